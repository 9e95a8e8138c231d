import type { ModelSettings, Reasoning, RunMember } from '@runwire/agency';
import type { AgentConditions } from './conditions.ts';
import type { AgentGuardrails } from './guardrails.ts';
import type { FailedServer } from './mcp-port.ts';
import type { CheckResult, Model, ModelTool, Tool } from './ports.ts';

/** An agent as the loops of one run use it. */
export interface TeamAgent {
  readonly name: string;
  readonly instructions: string;
  readonly model: Model;
  /** Asked in this order if the model does not answer. */
  readonly fallback: readonly Model[];
  /** The tokens that the model and every fallback accept. */
  readonly windowTokens: number;
  /** The tokens that every model accepts that may get the conversation, also after hand-offs. */
  readonly reachedWindowTokens: number;
  readonly tools: readonly Tool[];
  /** Its tools and flows as its model gets them. The same list in all runs: adapters write it as JSON once per list. */
  readonly modelTools: readonly ModelTool[];
  /** The names of the tools that hand over. */
  readonly handOffs: ReadonlySet<string>;
  /** True if its model may search the web, if its provider can. */
  readonly webSearch: boolean;
  readonly reasoning?: Reasoning | undefined;
  readonly settings?: ModelSettings | undefined;
  /** Null if its answers are free text. */
  readonly output: OutputSchema | null;
  /** Null if neither the agency nor the agent has some. */
  readonly guardrails: AgentGuardrails | null;
  /** Null if its model sees the same tools and flows in every step. */
  readonly conditions: AgentConditions | null;
  readonly flows: readonly Flow[];
  /** Its MCP servers that the run cannot use now. */
  readonly failedServers: readonly FailedServer[];
}

/** The schema of an agent's last answer, which is JSON. */
export interface OutputSchema {
  readonly jsonSchema: Readonly<Record<string, unknown>>;
  readonly check: (value: unknown) => CheckResult | Promise<CheckResult>;
}

/** A way from an agent to another one. */
export interface Flow {
  readonly to: string;
  /** What the model of the sender reads about the recipient. */
  readonly description: string;
  readonly kind: 'delegate' | 'handoff';
  /** `chat`: the recipient sees its earlier exchanges with this sender in this chat. */
  readonly memory: 'chat' | 'none';
  /** `chat`: later runs of the chat begin with the recipient of the hand-off. */
  readonly lasts?: 'chat';
}

/** A message that one agent sent to another, and its answer's last text. */
export interface Exchange {
  readonly message: string;
  readonly answer: string;
  /** The answer's timestamp, which grows within the run. */
  readonly answeredAt: number;
}

/** A run's agents. */
export interface Team {
  /** False if there is no such agent any more. */
  has(name: string): boolean;
  /** Throws a `RunFailure` if there is no such agent any more. */
  agent(name: string): Promise<TeamAgent>;
  /** The member who asks. Null if the request named none. */
  member(): Promise<RunMember | null>;
  /** The exchanges of earlier runs of the chat, oldest first. */
  exchanges(sender: string, recipient: string): Promise<readonly Exchange[]>;
  /** The tools that answers allowed for the chat, as they are now. */
  rememberedTools(): Promise<ReadonlySet<string>>;
}
