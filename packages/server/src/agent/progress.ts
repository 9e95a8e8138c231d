import { type ChangedFile, changedFiles } from '../domain/file/changed-file.ts';
import { newId } from '../domain/ids.ts';
import {
  addModelUsage,
  addUsage,
  estimateTokens,
  type ModelUsage,
  NO_USAGE,
  type Usage,
  type UsageTotals,
} from '../domain/model/usage.ts';
import type { Question } from '../domain/question/question.ts';
import type { RunItem } from '../domain/run/events.ts';
import { isOwnStep, type JournalledStep, type Step } from '../domain/run/step.ts';
import type { PromptItem } from './ports.ts';

/** Learns what a run's models do, for metrics. */
export interface ProgressWatcher {
  /** Called once per response, when the model begins to answer. */
  onFirstOutput(afterMs: number, model: string): void;
  /** Called once per call of a model, when it ends. `errorType` is null if the model answered. */
  onCallEnd(durationMs: number, model: string, errorType: string | null): void;
  /** Called once per call of a model, when it ends. */
  onUsage(usage: Usage, model: string): void;
}

/** A journalled step, of which only the last event's id is needed. */
type RestoredStep = Step & Partial<Pick<JournalledStep, 'lastEventId'>>;

/** A run's progress, from which its end is made. */
export class Progress {
  /** The user's message first, then all output and tool results, in order. */
  readonly items: RunItem[] = [];
  usage: Usage = NO_USAGE;
  byModel: readonly ModelUsage[] = [];
  /** The part of `usage` that is stored: of journalled steps, and of the calls that failed before them. */
  settled: UsageTotals = NOTHING;
  /** The MCP servers whose failure readers of the run know. Null if none has failed. */
  reportedServers: Set<string> | null = null;
  /** The usage of failed calls by their loop. The next stored step that follows from the failure contains it. */
  #failed: Map<string, UsageTotals> | null = null;
  /** The files that the run changed, each path once. */
  files: readonly ChangedFile[] = [];
  /** The value of a structured answer to the user; null if the answer is free text. */
  output: { readonly value: unknown } | null = null;
  /** The number of the last step that began. */
  steps = 0;
  modelSteps = 0;
  handOffs = 0;
  /** The questions with which the run ends. */
  readonly questions: Question[] = [];
  /** True once a model has accepted a call, in this attempt or in a journalled step: from then on the run is charged. */
  accepted = false;
  /** The ids of all tool calls in the prompt or made by the model. */
  #callIds: Set<string> | null = null;
  watcher: ProgressWatcher | null = null;
  /**
   * When the first output arrived that counts, in milliseconds since 1970. Undefined if there is none; null if it is not
   * known, because an earlier version made the step.
   */
  firstOutputAt: number | null | undefined = undefined;
  #lastTimestamp = 0;

  add(usage: Usage, model: string): void {
    this.usage = addUsage(this.usage, usage);
    this.byModel = addModelUsage(this.byModel, model, usage);
    this.watcher?.onUsage(usage, model);
  }

  addFailed(loop: string, usage: Usage, model: string): void {
    this.add(usage, model);
    this.noteFailed(loop, usage, model);
  }

  /** Called for a usage that is added up already, if no step will contain it. */
  noteFailed(loop: string, usage: Usage, model: string): void {
    this.#failed ??= new Map();
    this.#failed.set(loop, plus(this.#failed.get(loop) ?? NOTHING, usage, model));
  }

  /**
   * Called when a step is stored, with its own usage and that of the failed calls before it. A later attempt counts the
   * calls that no stored step covers from their events, so no call is counted twice.
   */
  settle({ kind, loop, callId, usage, model }: Step): void {
    // The outcome of a `send_message` covers the loop that it began.
    const covered = kind === 'model' ? loop : (callId ?? '');
    for (const one of this.#failed?.get(covered)?.byModel ?? []) this.settled = plus(this.settled, one, one.model);
    this.#failed?.delete(covered);
    if (usage !== null && model !== null) this.settled = plus(this.settled, usage, model);
  }

  /** Returns microseconds that always grow within the run. */
  timestamp(): number {
    this.#lastTimestamp = Math.max(this.#lastTimestamp + 1, Date.now() * 1000);
    return this.#lastTimestamp;
  }

  /**
   * Restores the finished steps of earlier attempts, in their events' order, and the usage of all attempts. `begun` is
   * the number of the last step that began: none of these numbers is assigned again.
   */
  restore(steps: readonly RestoredStep[], begun: number, { usage, byModel }: UsageTotals): void {
    const own = steps.filter(isOwnStep);
    // A run that answers a question begins with the approved call, not with a model.
    this.accepted = own.some(({ kind }) => kind === 'model' || kind === 'summary');
    this.firstOutputAt = findFirstOutput(own);
    for (const item of steps.flatMap(({ output }) => output)) {
      this.items.push(item);
      if (item.kind === 'tool_call') this.#addCallId(item.callId);
      this.#lastTimestamp = Math.max(this.#lastTimestamp, item.timestamp);
    }
    this.files = changedFiles(own);
    this.usage = usage;
    this.byModel = byModel;
    this.settled = { usage, byModel };
    this.steps = begun;
  }

  /** Ids and timestamps of calls continue those of the prompt and of the runs that this one continues. */
  follow(earlier: readonly Step[], prompt: readonly PromptItem[]): void {
    for (const item of prompt) if (item.kind === 'tool_call') this.#addCallId(item.callId);
    for (const item of earlier.flatMap(({ output }) => output)) {
      if (item.kind === 'tool_call') this.#addCallId(item.callId);
      this.#lastTimestamp = Math.max(this.#lastTimestamp, item.timestamp);
    }
  }

  /**
   * Returns a tool call's id. Some servers restart the numbers with each response, or send none. Two calls with
   * one id would share their output and their idempotency key.
   */
  callId(given: string): string {
    const callId = given === '' || this.#callIds?.has(given) === true ? newId('call') : given;
    this.#addCallId(callId);
    return callId;
  }

  #addCallId(callId: string): void {
    this.#callIds ??= new Set();
    this.#callIds.add(callId);
  }

  /** From the run's admission to its first output; null if there is none, or if it is not known. */
  firstTokenMs(admittedAt: number): number | null {
    const at = this.firstOutputAt ?? null;
    // The clock may have been set, or another node's differs.
    return at === null ? null : Math.max(0, at - admittedAt);
  }

  /** The text of the answer to the user. */
  get text(): string {
    let text = '';
    for (const item of this.items) if (item.kind === 'message' && item.callerAgent === null) text += item.text;
    return text;
  }
}

/** See `Progress.firstOutputAt`. */
export function findFirstOutput(steps: readonly Step[]): number | null | undefined {
  const first = steps.find(({ kind }) => kind === 'model');
  if (first === undefined) return undefined;
  return first.firstTokenMs === undefined ? null : first.startedAt + first.firstTokenMs;
}

const NOTHING: UsageTotals = { usage: NO_USAGE, byModel: [] };

const plus = ({ usage, byModel }: UsageTotals, more: Usage, model: string): UsageTotals => ({
  usage: addUsage(usage, more),
  byModel: addModelUsage(byModel, model, more),
});

/**
 * For a step that was cut short, or whose provider reported no usage. The input counts if the provider began to answer,
 * or, if that is unknown, if there was any output.
 */
export function estimatedUsage(inputBytes: number, outputBytes: number, hasBegun = outputBytes > 0): Usage {
  return {
    requestCount: 1,
    inputTokens: hasBegun ? estimateTokens(inputBytes) : 0,
    cachedTokens: 0,
    outputTokens: estimateTokens(outputBytes),
    reasoningTokens: 0,
  };
}
