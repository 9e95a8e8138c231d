import type { Settlement } from '../domain/question/question.ts';
import type { RunEventBody, ToolOutputItem } from '../domain/run/events.ts';
import type { Step } from '../domain/run/step.ts';
import type { UnfinishedCall } from '../domain/run/unfinished-step.ts';
import type { FinishedSteps } from './finished-steps.ts';
import type { ModelStepInput } from './model-step-input.ts';
import type { OutputImages } from './output-images.ts';
import type { PromptItem, Room } from './ports.ts';
import type { Progress } from './progress.ts';
import type { Publication } from './publication.ts';
import type { RecordedCalls } from './recorded-calls.ts';
import type { StepGate } from './step-gate.ts';
import type { Team } from './team.ts';

export interface RunLimits {
  /** The model steps of all loops together. */
  readonly steps: number;
  /** How deep delegations may be nested. */
  readonly depth: number;
  readonly handOffs: number;
  /** The rest of a longer tool output is cut off. */
  readonly toolOutputCharacters: number;
}

/** What a run needs of the runs that it continues. Their steps are in `finished`. */
export interface RunContinuation {
  /** The run whose id is in the idempotency keys of approved calls. */
  readonly keyRunId: string;
  /** What becomes of the asking run's calls, by their ids. */
  readonly settlements: ReadonlyMap<string, Settlement>;
  /** The messages of the user that arrived while calls of this model step of the root loop were open, by its index. */
  readonly messages: ReadonlyMap<number, readonly PromptItem[]>;
}

/** Calls that are only shown. */
export interface UnfinishedCalls {
  /** The call failed with this error, or the run stopped before its result. */
  cut(call: UnfinishedCall, error: unknown): void;
  /** The call waits for the caller's answer. */
  wait(call: UnfinishedCall, questionId: string): void;
}

/** What a run's loops share. */
export interface RunScope {
  readonly runId: string;
  readonly attempt: number;
  readonly team: Team;
  readonly finished: FinishedSteps;
  /** The run whose questions this one settles. Null if it settles none. */
  readonly continuation: RunContinuation | null;
  /** The calls of the run that this one repeats. Null if all calls are made. */
  readonly recorded: RecordedCalls | null;
  readonly gate: StepGate;
  /** True if providers and MCP servers get the `traceparent` of a call. */
  readonly propagatesTrace: boolean;
  readonly limits: RunLimits;
  readonly userContext: unknown;
  readonly progress: Progress;
  /** The room in the log that receives the events. */
  readonly room: Room;
  readonly signal: AbortSignal;
  /** Returns a promise to wait for before a model or tool is called, or null. */
  mayCall(): Promise<void> | null;
  emit(event: RunEventBody): void;
  readonly images: OutputImages;
  /** The calls that gave no result. */
  readonly unfinished: UnfinishedCalls;
  /** Makes a model step that no earlier attempt has finished. */
  modelStep(input: ModelStepInput): Promise<Step>;
  /** Resolves when the step is durable. Its result is not used before that. */
  journal(step: Step): Promise<void>;
  /**
   * Makes a step durable together with its file changes, and then emits its output. Resolves to null, or to a text for
   * the model about why nothing was changed; then the step is not durable either.
   */
  publish(publication: Publication, step: Step, item: ToolOutputItem): Promise<string | null>;
}
