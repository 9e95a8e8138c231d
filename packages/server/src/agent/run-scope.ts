import type { RunEventBody } from '../domain/events.ts';
import type { Step } from '../domain/step.ts';
import type { FinishedSteps } from './finished-steps.ts';
import type { Room } from './ports.ts';
import type { Progress } from './progress.ts';
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

/** What all loops of a run share. */
export interface RunScope {
  readonly runId: string;
  readonly attempt: number;
  readonly team: Team;
  readonly finished: FinishedSteps;
  readonly gate: StepGate;
  readonly limits: RunLimits;
  readonly userContext: unknown;
  readonly progress: Progress;
  /** The room in the log that receives the events. */
  readonly room: Room;
  readonly signal: AbortSignal;
  /** Returns a promise to wait for before a model or tool is called, or null. */
  mayCall(): Promise<void> | null;
  emit(event: RunEventBody): void;
  /** Resolves when the step is durable. Its result is not used before that. */
  journal(step: Step): Promise<void>;
}
