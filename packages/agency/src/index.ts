/** What a tool is told about the call it serves: what the AI SDK tells its tools, and what is ours beside it. */
export interface ToolCall {
  /** The same in every attempt of the run: hand it to whatever must not happen twice. */
  readonly idempotencyKey: string;
  readonly callId: string;
  readonly userContext: unknown;
  /** Aborted when the run is cancelled or its server stops. */
  readonly abortSignal: AbortSignal;
  /** `callId`, by the name that the AI SDK has for it. */
  readonly toolCallId: string;
  /** What the model was shown before it made this call, as the AI SDK's `ModelMessage`s, without the instructions. */
  readonly messages: readonly unknown[];
  /** `userContext`, by the names that the AI SDK has for it. */
  readonly context: unknown;
  readonly experimental_context: unknown;
}

/** A schema of any library that keeps to Standard Schema (zod, Valibot, ArkType and others). */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** Standard Schema, the AI SDK's `jsonSchema()` or `lazySchema()`, or JSON Schema as it stands. */
export type InputSchema = StandardSchema | object;

/** What `execute` is given: the type that a Standard Schema says, otherwise unknown. */
export type InputOf<Schema> = Schema extends StandardSchema<infer Output> ? Output : unknown;

/** What `tool()` of the AI SDK makes; its name is its key among the agent's tools. */
export interface AgentTool {
  readonly inputSchema?: InputSchema | undefined;
  /** Called with the checked input and a `ToolCall`. Of an async iterable the last value is the result. */
  readonly execute?: ((input: never, call: never) => unknown) | undefined;
  /**
   * True: a call of which nobody knows whether it took effect, because its server died, is made again, with the same
   * `idempotencyKey`. Where absent, the model is told instead that its outcome is unknown.
   */
  readonly repeatable?: boolean | undefined;
}

export interface NamedTool extends AgentTool {
  readonly name: string;
}

export interface ToolDefinition<Schema extends InputSchema = InputSchema> {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Schema;
  /** Of an async iterable the last value is the result. */
  readonly execute: (input: InputOf<Schema>, call: ToolCall) => unknown;
  /** True: a call that was under way when its server died is made again; see `AgentTool`. */
  readonly repeatable?: boolean;
}

/**
 * How much a reasoning model is to think, and whether it is to sum up what it thought. What is left out is left to the
 * model; not every model takes every value.
 */
export interface Reasoning {
  readonly effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  /** Reaches the stream as `response.reasoning_summary_text.*`. */
  readonly summary?: 'auto' | 'concise' | 'detailed';
}

export interface AgentDefinition {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  /** `provider/model`; where absent the installation's own choice. */
  readonly model?: string;
  /** Where absent, nothing is asked for. */
  readonly reasoning?: Reasoning;
  /** Those of `defineTool` in an array, or tools by their names, as the AI SDK takes them. */
  readonly tools?: readonly NamedTool[] | Readonly<Record<string, AgentTool>>;
  /**
   * False: it has none of the tools `list_files`, `read_file` and `search_files`, which read the files of the integration
   * that a run is for. Where absent it has them.
   */
  readonly files?: boolean;
}

export interface AgencyDefinition {
  readonly name: string;
  /** The first one is the default unless `defaultAgent` names another. */
  readonly agents: readonly AgentDefinition[];
  readonly defaultAgent?: string;
  /** Names of the agents that callers may address; where absent, all of them. */
  readonly entryPoints?: readonly string[];
}

export function defineTool<Schema extends InputSchema>(tool: ToolDefinition<Schema>): ToolDefinition<Schema> {
  return tool;
}

export function defineAgent(agent: AgentDefinition): AgentDefinition {
  return agent;
}

export function defineAgency(agency: AgencyDefinition): AgencyDefinition {
  return agency;
}
