import type { HiddenPart } from '../domain/run/hidden-part.ts';
import type { AgentTrace } from '../telemetry/run-trace.ts';
import type { PromptItem, StepReplay } from './ports.ts';
import type { TeamAgent } from './team.ts';
import type { TextCheck } from './text-check.ts';

/** The place of a loop in the run. */
export interface LoopPosition {
  /** The call id of the `send_message` that began the loop; empty for the root loop, which answers the user. */
  readonly loop: string;
  readonly callerAgent: string | null;
}

/** What a step's model is sent. */
export interface SentPrompt {
  readonly prompt: readonly PromptItem[];
  /** See `ModelRequest.earlierItems`. */
  readonly earlierItems: number;
  /** What earlier steps of the loop returned for their provider. */
  readonly replays: readonly StepReplay[];
}

export interface ModelStepInput extends LoopPosition, SentPrompt {
  readonly agent: TeamAgent;
  /** What `agent` lacks in this step. Absent if nothing, and before its conditions were asked. */
  readonly hidden?: readonly HiddenPart[];
  /** When the step began, if its conditions were asked. */
  readonly begunAt?: number;
  /** The agent's own, and those of the message that began the loop. */
  readonly instructions: string;
  readonly indexInLoop: number;
  /** The model that answered the step before; null in an agent's first step. */
  readonly lastModel: string | null;
  /** True if the agent has made a call in this loop. */
  readonly hasCalled: boolean;
  /** Null if the text is not checked. */
  readonly textCheck: TextCheck | null;
  /** The span of the loop's agent; null if traces are off. */
  readonly trace: AgentTrace | null;
}
