import type { StoredAttachment } from '../domain/attachment.ts';
import type { RunItem } from '../domain/events.ts';
import { isBlank } from '../domain/ids.ts';
import type { SandboxFile } from '../domain/sandbox-file.ts';
import { type ShownItem, shownStep } from '../domain/shown-step.ts';

/** What of an earlier turn is shown to the model again. */
export type HistoryItem =
  | {
      readonly kind: 'user';
      readonly text: string;
      readonly attachments?: readonly StoredAttachment[];
      readonly sandboxFiles?: readonly SandboxFile[];
    }
  | ShownItem
  | { readonly kind: 'tool_output'; readonly callId: string; readonly output: string };

/** A finished step, from the journal. */
export interface StoredStep {
  readonly kind: 'model' | 'tool';
  readonly callerAgent: string | null;
  readonly output: readonly RunItem[];
}

/** A turn however it ended, as it is stored. */
export interface StoredTurn {
  readonly message: string;
  /** Those that are sent again: none of a failed turn. */
  readonly attachments?: readonly StoredAttachment[];
  /** Of a failed turn too: they are announced, not sent. */
  readonly sandboxFiles?: readonly SandboxFile[];
  /** In their order. */
  readonly steps: readonly StoredStep[];
  /** The text of the assistant message: of all steps, the one that was cut short included. */
  readonly answer: string;
}

export const OUTCOME_UNKNOWN =
  'The run ended before the outcome of this call was known; it may or may not have taken effect.';

/**
 * The turn as a model may be shown it, whatever became of it. Providers refuse a prompt, and with it every later turn
 * of the chat, in which a call has no output or two, an output has no call, or an assistant says nothing. So each call
 * has exactly one output, behind the calls of its step and in their order; a call that was never answered says that
 * its outcome is unknown; blank texts are left out; and no two calls share an id. A completed turn comes out byte for
 * byte as the model was shown it when it was under way.
 */
export function healTurn(turn: StoredTurn, callIds: Set<string> = new Set()): HistoryItem[] {
  const items: HistoryItem[] = [userItem(turn)];
  const outputs = outputsOf(turn.steps);
  const taken = new Set<string>();
  let said = '';
  for (const step of turn.steps) {
    if (step.kind !== 'model' || step.callerAgent !== null) continue;
    const answered: HistoryItem[] = [];
    for (const item of step.output) if (item.kind === 'message') said += item.text;
    for (const item of shownStep(step.output)) {
      if (item.kind === 'assistant') items.push(item);
      else {
        const callId = ownId(item.callId, callIds);
        // Of two calls of one id the first has the output; of the second nothing is known.
        const output = taken.has(item.callId) ? undefined : outputs.get(item.callId);
        taken.add(item.callId);
        items.push({ ...item, callId });
        answered.push({ kind: 'tool_output', callId, output: output ?? OUTCOME_UNKNOWN });
      }
    }
    items.push(...answered);
  }
  // What the step that was cut short had said stands behind the texts of the finished ones.
  const rest = turn.answer.startsWith(said) ? turn.answer.slice(said.length) : '';
  if (!isBlank(rest)) items.push({ kind: 'assistant', text: rest });
  return items;
}

/** The user's part of a turn, the same when it is new and in every later one. */
export function userItem({ message, attachments = [], sandboxFiles = [] }: Omit<StoredTurn, 'steps' | 'answer'>) {
  return {
    kind: 'user' as const,
    text: message,
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(sandboxFiles.length === 0 ? {} : { sandboxFiles }),
  };
}

function outputsOf(steps: readonly StoredStep[]): Map<string, string> {
  const outputs = new Map<string, string>();
  for (const step of steps) {
    for (const item of step.output) {
      if (item.kind === 'tool_output' && !outputs.has(item.callId)) outputs.set(item.callId, item.text);
    }
  }
  return outputs;
}

function ownId(callId: string, used: Set<string>): string {
  let own = callId;
  for (let n = 2; own === '' || used.has(own); n += 1) own = `${callId === '' ? 'call' : callId}_${n}`;
  used.add(own);
  return own;
}
