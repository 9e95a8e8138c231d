/** The call that a tool serves: the options of the AI SDK and a few of our own. */
export interface ToolCall {
  /** The same in every attempt of the run. Pass it to operations that must not happen twice. */
  readonly idempotencyKey: string;
  readonly callId: string;
  readonly userContext: unknown;
  /** Aborted if the run is cancelled or its server stops. */
  readonly abortSignal: AbortSignal;
  /** The same as `callId`, under its name in the AI SDK. */
  readonly toolCallId: string;
  /** The messages before this call as `ModelMessage`s of the AI SDK, without the instructions. */
  readonly messages: readonly unknown[];
  /** The same as `userContext`, under its names in the AI SDK. */
  readonly context: unknown;
  readonly experimental_context: unknown;
}

/** A schema of any library that implements Standard Schema (zod, Valibot, ArkType and others). */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** Standard Schema, `jsonSchema()` or `lazySchema()` of the AI SDK, or plain JSON Schema. */
export type InputSchema = StandardSchema | object;

/** The type of the input of `execute`: the output type of a Standard Schema, otherwise unknown. */
export type InputOf<Schema> = Schema extends StandardSchema<infer Output> ? Output : unknown;

/** A tool as `tool()` of the AI SDK makes it. Its name is its key in the agent's tools. */
export interface AgentTool {
  readonly inputSchema?: InputSchema | undefined;
  /** Called with the checked input and a `ToolCall`. If it returns an async iterable, the last value is the result. */
  readonly execute?: ((input: never, call: never) => unknown) | undefined;
  /**
   * True if a call may be repeated, with the same `idempotencyKey`, if its server died and its outcome is unknown.
   * Otherwise the model receives the answer that the outcome is unknown.
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
  /** If it returns an async iterable, the last value is the result. */
  readonly execute: (input: InputOf<Schema>, call: ToolCall) => unknown;
  /** True if a call that was in progress when its server died may be repeated. See `AgentTool`. */
  readonly repeatable?: boolean;
}

/**
 * How much a reasoning model thinks, and whether it summarises its reasoning. Absent values are left to the model. Not
 * every model accepts every value.
 */
export interface Reasoning {
  readonly effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  /** Streamed as `response.reasoning_summary_text.*`. */
  readonly summary?: 'auto' | 'concise' | 'detailed';
}

/** Absent values are left to the model. Not every model accepts every value. */
export interface ModelSettings {
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxOutputTokens?: number;
  /** False if the model may call only one tool per answer. */
  readonly parallelToolCalls?: boolean;
  /** `auto`, `none`, `required`, or the name of a tool. */
  readonly toolChoice?: string;
}

export interface AgentDefinition {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  /** `provider/model`. If absent, the default model of the installation. */
  readonly model?: string;
  /** If absent, no reasoning is requested. */
  readonly reasoning?: Reasoning;
  /** An array of tools made by `defineTool`, or tools by their names, as the AI SDK has them. */
  readonly tools?: readonly NamedTool[] | Readonly<Record<string, AgentTool>>;
  /**
   * False if the agent gets none of the tools `list_files`, `read_file` and `search_files`, which read the files of the
   * run's integration. If absent, it gets them.
   */
  readonly files?: boolean;
}

export interface AgencyDefinition {
  readonly name: string;
  /** The first one is the default unless `defaultAgent` names another. */
  readonly agents: readonly AgentDefinition[];
  readonly defaultAgent?: string;
  /** The names of the agents that callers may address. If absent, all of them. */
  readonly entryPoints?: readonly string[];
  /** Who may reach whom. */
  readonly flows?: readonly FlowDefinition[];
}

export interface FlowDefinition {
  readonly from: string;
  readonly to: string;
  /** `delegate` (the default): by `send_message`. `handoff`: the recipient takes the conversation over. */
  readonly kind?: 'delegate' | 'handoff';
  /** `none`: the recipient does not see its earlier exchanges with the sender. If absent, `chat`. */
  readonly memory?: 'chat' | 'none';
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
