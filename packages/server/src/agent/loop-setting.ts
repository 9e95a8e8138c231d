import type { ToolCallItem } from '../domain/run/events.ts';
import type { Step } from '../domain/run/step.ts';
import type { AgentTrace } from '../telemetry/run-trace.ts';
import type { LoopPosition } from './model-step-input.ts';
import type { PromptItem } from './ports.ts';
import type { RunScope } from './run-scope.ts';
import type { TeamAgent } from './team.ts';
import type { TextCheck } from './text-check.ts';

export interface LoopStart extends LoopPosition {
  readonly depth: number;
  readonly agent: TeamAgent;
  /** The message that began the loop has them, or the request. They count until another agent takes over. May be empty. */
  readonly addedInstructions: string;
  readonly prompt: readonly PromptItem[];
  /** See `ModelRequest.earlierItems`. */
  readonly earlierItems: number;
  /** Checks the answer of a delegated loop; null in the root loop, and if the sender has no guardrail that does. */
  readonly resultCheck: TextCheck | null;
  /** The span of the agent that began the loop; null if traces are off. */
  readonly trace: AgentTrace | null;
}

/** Resolves to the loop's last step, or to null if a call waits for an answer of the caller. */
export type RunLoop = (scope: RunScope, start: LoopStart) => Promise<Step | null>;

/** The setting of the calls of one answer. */
export interface CallsSetting {
  readonly scope: RunScope;
  readonly loop: LoopStart;
  /** Runs the loop that a `send_message` begins. */
  readonly runLoop: RunLoop;
  readonly agent: TeamAgent;
  /** The prompt with which the model made the calls. */
  readonly prompt: readonly PromptItem[];
  /** The calls as the model wrote them. */
  readonly written: readonly ToolCallItem[];
  readonly asks: NonNullable<Step['asks']>;
  readonly allows: Step['allows'];
}

export const joinInstructions = ({ instructions }: TeamAgent, added: string) =>
  added === '' ? instructions : `${instructions}\n\n${added}`;

export const toText = ({ output }: Step) => output.map((item) => (item.kind === 'message' ? item.text : '')).join('');
