import type { Answer, Attachment, Message, Question, RunRequest, SandboxFile } from '@runwire/client';
import type { LiveRun } from './live-run.ts';

/** A file that a message got in the playground. */
export interface AttachedFile {
  readonly key: number;
  readonly name: string;
  readonly size: number | null;
  /** The member for whom it was uploaded. */
  readonly member: string | undefined;
  /** From 0 to 1. */
  readonly progress: number;
  /** Set after the upload. */
  readonly uploaded: SandboxFile | null;
  readonly error: unknown;
  /** Null for a file of an earlier message. */
  readonly file: File | null;
}

/** What the API returns of the files of an earlier message. */
export interface EarlierFiles {
  readonly files: readonly SandboxFile[];
  /** Their bytes and signed addresses are not returned. */
  readonly attachments: readonly Attachment[];
}

/** What a user sent. */
export interface SentMessage extends EarlierFiles {
  readonly text: string;
  readonly images: NonNullable<RunRequest['attachments']>;
  readonly answers: readonly Answer[];
  /** The answers, with who decided and when. */
  readonly decisions: Message['answers'];
  /** The same files as they were attached here. Null for a message without them, or that was stored before. */
  readonly attached: readonly AttachedFile[] | null;
  /** Null if the turn has no message. */
  readonly sentAt: string | null;
}

export const EMPTY_MESSAGE: SentMessage = {
  text: '',
  files: [],
  attachments: [],
  images: [],
  answers: [],
  decisions: [],
  attached: null,
  sentAt: null,
};

/** A message and its answer, which is read live or was stored before. */
export interface Turn {
  readonly key: string;
  readonly message: SentMessage;
  /** Null until the run is known, and in turns that were imported. */
  readonly runId: string | null;
  readonly live: LiveRun | null;
  readonly stored: Message | null;
}

export const NO_QUESTIONS: readonly Question[] = [];

export const getRunId = ({ runId, live }: Turn): string | null => runId ?? live?.runId ?? null;

/** True if the message can be sent again in a copy of the chat. Answers name questions, which have other ids there. */
export const canResend = (turn: Turn): boolean =>
  getRunId(turn) !== null &&
  turn.message !== EMPTY_MESSAGE &&
  turn.message.decisions.length === 0 &&
  !turn.live?.isActive;

/** True if no run of the message is known. */
export const isNotAdmitted = ({ runId, live }: Turn) => runId === null && live !== null && live.runId === null;

/** A page's messages are newest first, and a page may begin with an answer. */
export function listTurns(newestFirst: readonly Message[]): Turn[] {
  const turns: Turn[] = [];
  for (const message of newestFirst.toReversed()) {
    const last = turns.at(-1);
    if (message.role === 'assistant' && last?.stored === null && last.runId === message.runId)
      turns[turns.length - 1] = { ...last, stored: message };
    else turns.push(toTurn(message));
  }
  return turns;
}

function toTurn(message: Message): Turn {
  const { messageId: key, runId, role, content, sandboxFiles: files, attachments, answers, createdAt } = message;
  if (role === 'assistant') return { key, runId, message: EMPTY_MESSAGE, live: null, stored: message };
  const sent = { ...EMPTY_MESSAGE, text: content, files, attachments, decisions: answers, sentAt: createdAt };
  return { key, runId, message: sent, live: null, stored: null };
}

/** A turn may be cut by the end of a page. */
export function joinTurns(earlier: readonly Turn[], later: readonly Turn[]): readonly Turn[] {
  const [last, first] = [earlier.at(-1), later[0]];
  const isCut = last?.stored === null && first?.message === EMPTY_MESSAGE && last.runId === first.runId;
  if (!isCut) return [...earlier, ...later];
  return [...earlier.slice(0, -1), { ...first, message: last.message }, ...later.slice(1)];
}
