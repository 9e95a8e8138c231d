import { bracketedOutput } from '@runwire/lib/bracketed-images.ts';
import { isBlank } from '@runwire/lib/is-blank.ts';
import type { SandboxFile } from '@runwire/models';
import type { StoredAttachment } from '../domain/attachment/attachment.ts';
import type { RunItem, ToolOutputItem } from '../domain/run/events.ts';
import type { ShownMessage } from '../domain/run/guardrail-record.ts';
import { type ShownItem, shownStep } from '../domain/run/shown-step.ts';
import type { Step } from '../domain/run/step.ts';
import type { ToolImage } from '../domain/run/tool-image.ts';

/** An item of an earlier turn that the model is shown again. */
export type HistoryItem =
  | {
      readonly kind: 'user';
      readonly text: string;
      readonly attachments?: readonly StoredAttachment[];
      readonly sandboxFiles?: readonly SandboxFile[];
    }
  | ShownItem
  | {
      readonly kind: 'tool_output';
      readonly callId: string;
      readonly output: string;
      /** Absent if there are none. */
      readonly images?: readonly ToolImage[];
    };

/** A finished step, from the journal. */
export interface StoredStep {
  readonly kind: Step['kind'];
  readonly callerAgent: string | null;
  /** The call of a step that is not of a model. */
  readonly callId?: string | null;
  readonly output: readonly RunItem[];
  /** The calls that needed an answer of the caller. */
  readonly asks?: Step['asks'];
}

/** A message of the user, as it is stored. */
export interface StoredMessage {
  readonly message: string;
  /** The attachments that are sent again; a failed turn has none (`contract-7-failed-turn`). */
  readonly attachments?: readonly StoredAttachment[];
  /** Includes those of a failed turn, because they are announced and not sent. */
  readonly sandboxFiles?: readonly SandboxFile[];
}

/** The message as prompts show it, after guardrails checked it. */
export function toShownMessage<M extends StoredMessage>(message: M, shown: ShownMessage | undefined): StoredMessage {
  if (shown === undefined) return message;
  return shown.isBlocked ? { message: shown.text } : { ...message, message: shown.text };
}

/** A message that settled questions of the turn. */
export interface LaterMessage extends StoredMessage {
  /** How many steps of the root loop the turn had when it arrived. */
  readonly afterSteps: number;
}

/** A turn as it is stored, whether it completed, failed or was cancelled. */
export interface StoredTurn extends StoredMessage {
  /** In their events' order. */
  readonly steps: readonly StoredStep[];
  /** In the order of their arrival. Absent if the turn is one run, and not a chain of runs. */
  readonly later?: readonly LaterMessage[];
  /** True if the prompt had no item for an empty message: other items are before it, or the turn was imported. */
  readonly hidesEmpty?: boolean;
  /** True if the run failed, or one of the chain. */
  readonly failed?: boolean;
  /** The assistant message's text: of all steps, including a step that was cut short. */
  readonly answer: string;
}

const NOT_CALLED = 'The run ended before the call';

export const OUTCOME_UNKNOWN =
  'The run ended before the outcome of this call was known; it may or may not have taken effect.';

/**
 * Returns the turn in a form that every provider accepts, however the turn ended. Providers refuse a prompt, and with it
 * every later turn of the chat, if a call has no output or two, an output has no call, or an assistant message is blank.
 * So each call gets exactly one output, after the calls of its step and in their order. A call without an output gets the
 * text that its outcome is unknown. Blank texts are left out, and no two calls share an id. A completed turn is returned
 * byte for byte as the model saw it during the run.
 */
export function healTurn(turn: StoredTurn, callIds: Set<string> = new Set()): HistoryItem[] {
  const items: HistoryItem[] = turn.hidesEmpty === true && isEmpty(turn) ? [] : [userItem(turn)];
  const outputs = getOutputs(turn);
  const begun = new Set(turn.steps.map(({ kind, callId }) => (kind === 'begin' ? callId : null)));
  const answeredIds = new Set<string>();
  let finishedText = '';
  let rootSteps = 0;
  for (const step of turn.steps) {
    if (!isRootStep(step)) continue;
    rootSteps += 1;
    const answered: HistoryItem[] = [];
    for (const item of step.output) if (item.kind === 'message') finishedText += item.text;
    for (const item of shownStep(step.output)) {
      if (item.kind === 'assistant') items.push(item);
      else {
        const callId = ownId(item.callId, callIds);
        // If two calls have the same id, the output belongs to the first one.
        const output = answeredIds.has(item.callId) ? undefined : outputs.get(item.callId);
        answeredIds.add(item.callId);
        items.push({ ...item, callId });
        const wasNotCalled = step.asks?.[item.callId] !== undefined && !begun.has(item.callId);
        const ifUnknown = wasNotCalled ? NOT_CALLED : OUTCOME_UNKNOWN;
        answered.push({ kind: 'tool_output', callId, ...(output ?? { output: ifUnknown }) });
      }
    }
    items.push(...answered);
    for (const message of turn.later ?? []) {
      if (message.afterSteps === rootSteps && !isEmpty(message)) items.push(userItem(message));
    }
  }
  // The text of a step that was cut short follows the finished steps' texts.
  const rest = turn.answer.startsWith(finishedText) ? turn.answer.slice(finishedText.length) : '';
  if (!isBlank(rest)) items.push({ kind: 'assistant', text: rest });
  return items;
}

/** The user's part of a turn. It is the same in its own run and in every later one. */
export function userItem({ message, attachments = [], sandboxFiles = [] }: Omit<StoredTurn, 'steps' | 'answer'>) {
  return {
    kind: 'user' as const,
    text: message,
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(sandboxFiles.length === 0 ? {} : { sandboxFiles }),
  };
}

type ShownOutput = Omit<Extract<HistoryItem, { kind: 'tool_output' }>, 'kind' | 'callId'>;

function getOutputs({ steps, failed = false }: StoredTurn): Map<string, ShownOutput> {
  const outputs = new Map<string, ShownOutput>();
  for (const step of steps) {
    for (const item of step.output) {
      if (item.kind === 'tool_output' && !outputs.has(item.callId)) outputs.set(item.callId, shownOutput(item, failed));
    }
  }
  return outputs;
}

/** A provider may have refused an image, and the run failed. So no later turn sends the images of a failed turn. */
function shownOutput({ text, images }: ToolOutputItem, failed: boolean): ShownOutput {
  if (images === undefined) return { output: text };
  return failed ? { output: bracketedOutput(text, images) } : { output: text, images };
}

/** True if the step is an answer of the model to the user, or calls with which it prepares one. */
export const isRootStep = ({ kind, callerAgent }: Pick<StoredStep, 'kind' | 'callerAgent'>): boolean =>
  kind === 'model' && callerAgent === null;

/** True if a request had only answers to questions. */
export const isEmpty = ({ message, attachments = [], sandboxFiles = [] }: StoredMessage): boolean =>
  isBlank(message) && attachments.length === 0 && sandboxFiles.length === 0;

function ownId(callId: string, used: Set<string>): string {
  let own = callId;
  for (let n = 2; own === '' || used.has(own); n += 1) own = `${callId === '' ? 'call' : callId}_${n}`;
  used.add(own);
  return own;
}
