import { isImported } from '../../domain/chat/imported-turn.ts';
import type { MountPath } from '../../domain/file/mount-path.ts';
import type { ChatKey, RunId } from '../../domain/ids.ts';
import type { OpenQuestions } from '../../domain/question/question.ts';
import { Refusal } from '../../domain/refusal.ts';
import {
  type ForkSourceRow,
  firstRunPosition,
  forkSource,
  messageAt,
  messageTexts,
  runPositions,
} from '../../store/queries/forks.ts';
import { first, type Reads } from '../../store/store.ts';
import { readSummary } from '../read-summary.ts';
import { findQuestions } from './find-questions.ts';
import { findSeenPaths } from './seen-paths.ts';

/** The place in a chat at which its fork ends. */
export type ForkPoint =
  | { readonly at: 'newest-end' }
  | { readonly at: 'after' | 'before'; readonly runId: string }
  | { readonly at: 'before-first-run' };

/** The part that a fork copies. Messages never change, so it stays right until the other chat is deleted. */
export interface ForkPlan {
  readonly from: ChatKey;
  /** The last run of the fork; null if it has none. */
  readonly runId: RunId | null;
  readonly numMessages: number;
  readonly textBytes: number;
  /** The paths that are announced in the fork. */
  readonly paths: readonly MountPath[];
  /** The last of its runs that summed up the chat. Null if none did. */
  readonly summaryRunId: RunId | null;
  /** What its last run asked, with new ids. */
  readonly questions: OpenQuestions | null;
  /** True if nothing follows in the chat. */
  readonly isWhole: boolean;
}

const notInChat = () =>
  new Refusal('run_not_found', '`runId` is not a run of this chat; list its messages, and take the `runId` of one.');

/** Throws a `Refusal` if the chat does not have the run, or if the run has not ended. */
export async function planFork(reads: Reads, chatKey: ChatKey, point: ForkPoint): Promise<ForkPlan> {
  const source = await first(reads.all(forkSource, { chatKey }));
  if (source === undefined || source.deleted_at !== null) throw new Refusal('chat_not_found');
  const numMessages = await findEnd(reads, source, point);
  const last = numMessages === 0 ? undefined : await first(reads.all(messageAt, { chatKey, position: numMessages }));
  const runId = last === undefined || isImported(last.run_id) ? null : last.run_id;
  return {
    from: chatKey,
    runId,
    numMessages,
    textBytes: await countTextBytes(reads, source, numMessages),
    summaryRunId: (await readSummary(reads, source.summary_run_id, numMessages))?.runId ?? null,
    paths: await findSeenPaths(reads, chatKey, numMessages + 1),
    questions: runId === null || last?.status !== 'completed' ? null : await findQuestions(reads, runId),
    isWhole: numMessages === source.num_messages,
  };
}

/** Returns the fork's number of messages. */
async function findEnd(reads: Reads, source: ForkSourceRow, point: ForkPoint): Promise<number> {
  const { chat_key: chatKey, num_messages: all } = source;
  switch (point.at) {
    case 'newest-end': {
      const newest = all === 0 ? undefined : await first(reads.all(messageAt, { chatKey, position: all }));
      // The message of a run that has not ended.
      return newest?.role === 'user' ? all - 1 : all;
    }
    case 'before-first-run': {
      const found = await first(reads.all(firstRunPosition, { chatKey }));
      return found === undefined ? all : found.position - 1;
    }
    default: {
      const { at, runId } = point;
      const messages = await reads.all(runPositions, { chatKey, runId });
      const [begin] = messages;
      if (begin === undefined) throw notInChat();
      if (at === 'before') return begin.position - 1;
      const end = messages.find(({ role }) => role === 'assistant');
      if (end !== undefined) return end.position;
      const sentence = 'The run has not ended; wait for its end, cancel it, or send `before: true`.';
      throw new Refusal('run_active', sentence, { runId });
    }
  }
}

/** Messages per statement, so that a long chat is not in memory as a whole. */
const PAGE = 500;

/** Counts the texts in the shorter part of the chat. */
async function countTextBytes(reads: Reads, source: ForkSourceRow, kept: number): Promise<number> {
  const { num_messages: all, text_bytes: bytes } = source;
  if (kept <= all / 2) return sumTexts(reads, source, 1, kept);
  return bytes - (await sumTexts(reads, source, kept + 1, all));
}

async function sumTexts(
  reads: Reads,
  { chat_key: chatKey }: ForkSourceRow,
  firstPosition: number,
  lastPosition: number,
): Promise<number> {
  let bytes = 0;
  for (let from = firstPosition; from <= lastPosition; from += PAGE) {
    const before = Math.min(lastPosition + 1, from + PAGE);
    for (const { content_json: json } of await reads.all(messageTexts, { chatKey, from, before })) {
      bytes += Buffer.byteLength(JSON.parse(json) as string);
    }
  }
  return bytes;
}
