/*
 * Imported turns are stored like a run's turns: two messages, and steps for calls. `run_id` has an id that no run has,
 * so everything that reads or deletes a chat by its messages finds them.
 */

const IMPORTED = 'imp_';

/** True if the messages belong to an imported turn and to no run. */
export const isImported = (runId: string): boolean => runId.startsWith(IMPORTED);

/** A call of an imported turn, with its outcome. */
export interface ImportedCall {
  readonly callId: string;
  readonly tool: string;
  /** The arguments: a JSON object as text. */
  readonly argumentsText: string;
  /** Null if the caller brought no output of this call. */
  readonly output: string | null;
  readonly failed: boolean;
}

/** The part of an imported turn that follows the user's text, in its order. */
export type ImportedAnswer =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'calls'; readonly calls: readonly ImportedCall[] };

/** An earlier turn that a caller brings into a new chat. Like every turn it is stored as two messages. */
export interface ImportedTurn {
  /** Empty if the history does not begin with a user's item. */
  readonly message: string;
  /** The agent that answered; null for the run's agent. */
  readonly agent: string | null;
  readonly answers: readonly ImportedAnswer[];
}

/** The assistant's text: the second message. */
export const importedText = ({ answers }: Pick<ImportedTurn, 'answers'>): string =>
  answers.map((answer) => (answer.kind === 'text' ? answer.text : '')).join('');

/** Attachments and items that a new chat's history may have. An item is a user's message, a text, an answer's calls or an output. */
const MAX_ATTACHMENTS = 20;
const MAX_ITEMS = 1000;

/** Returns why the history is too large for a new chat, or null. */
export function historyProblem(turns: readonly (ImportedTurn & { readonly attachments: readonly unknown[] })[]) {
  const attached = turns.reduce((sum, { attachments }) => sum + attachments.length, 0);
  if (attached > MAX_ATTACHMENTS) {
    return `The earlier messages of a new chat must have at most ${MAX_ATTACHMENTS} attachments in all.`;
  }
  const items = turns.reduce((sum, turn) => sum + countItems(turn), 0);
  return items > MAX_ITEMS ? `A new chat must have at most ${MAX_ITEMS} earlier messages, calls and outputs.` : null;
}

function countItems({ answers }: ImportedTurn): number {
  const outputs = answers.flatMap((answer) => (answer.kind === 'calls' ? answer.calls : [])).filter(hasOutput);
  return 1 + answers.length + outputs.length;
}

const hasOutput = ({ output }: ImportedCall): boolean => output !== null;

/** A turn has two messages. */
export const countMessages = (turns: readonly ImportedTurn[]): number => turns.length * 2;

/** All texts' UTF-8 bytes, as `chats.text_bytes` counts them. */
export function countTextBytes(turns: readonly ImportedTurn[]): number {
  let bytes = 0;
  for (const turn of turns) bytes += Buffer.byteLength(turn.message) + Buffer.byteLength(importedText(turn));
  return bytes;
}
