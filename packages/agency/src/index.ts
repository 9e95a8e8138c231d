/** The call that a tool serves: the options of the AI SDK and a few of our own. */
export interface ToolCall {
  /** The same in every attempt of the run. Pass it to operations that must not happen twice. */
  readonly idempotencyKey: string;
  readonly callId: string;
  /** For requests to other servers (W3C Trace Context). Absent unless the agency sets `propagateTrace` and traces are on. */
  readonly traceparent?: string | undefined;
  readonly userContext: unknown;
  /** The member of the integration who asks. Null if the request named none. */
  readonly member: RunMember | null;
  /** Aborted if the run is cancelled, its server stops, or the call's time is over. */
  readonly abortSignal: AbortSignal;
  /** The decision about a call that needed approval. Null if the call needed none. */
  readonly approval: { readonly questionId: string; readonly reason: string | null } | null;
  /**
   * Shows readers of the stream how far the call is: a text, or a value as JSON. Of more than 10 reports per second the
   * newest count. The model does not see them.
   */
  readonly progress: (text: unknown) => void;
  /** What the chat remembers. Changes become durable together with the call's result, and only if the call succeeds. */
  readonly state: CallState;
  /** The same as `callId`, under its name in the AI SDK. */
  readonly toolCallId: string;
  /** The messages before this call as `ModelMessage`s of the AI SDK, without the instructions. */
  readonly messages: readonly unknown[];
  /** The same as `userContext`, under its names in the AI SDK. */
  readonly context: unknown;
  readonly experimental_context: unknown;
}

/** What `isEnabled` knows about the step that begins. */
export interface AboutStep {
  /** The agent whose model is asked next. */
  readonly agent: string;
  /** The member of the integration who asks. Null if the request named none. */
  readonly member: RunMember | null;
  readonly userContext: unknown;
  /** A copy of the chat's state as it is now, with the changes of this run's earlier steps. */
  readonly state: ChatState;
  /** When the step began. */
  readonly date: Date;
}

/**
 * False hides a tool or a flow from the model in this step. Asked once per step, and must have no effects. Has 30 seconds. If it
 * throws, takes longer or returns no boolean, the run fails with `agency_error`; in a delegation, the call.
 */
export type IsEnabled = (about: AboutStep) => boolean | PromiseLike<boolean>;

/** A chat's state as one call sees it: as it was before the calls of the same answer, with the call's own changes. */
export interface CallState {
  /** Returns a copy of the value, or undefined if there is none. */
  readonly get: (key: string) => unknown;
  /**
   * Sets a value, which must be JSON; undefined removes it. Throws if it is not JSON, if the chat's state would have more than
   * 64 KiB, or after the call has ended.
   */
  readonly set: (key: string, value: unknown) => void;
}

/** A chat's state. Its values are JSON. */
export type ChatState = Readonly<Record<string, unknown>>;

/** What `needsApproval` knows of a call. */
export type ApprovalCall = Pick<ToolCall, 'toolCallId' | 'messages' | 'context'>;

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
  /**
   * Called with the checked input and a `ToolCall`. If it returns an async iterable, the last value is the result, and the
   * others are progress. Without it only the caller can run the tool: a call ends the run with a question.
   */
  readonly execute?: ((input: never, call: never) => unknown) | undefined;
  /** True, or a function that returns true, if a person must approve a call before it is made. */
  readonly needsApproval?: boolean | ((input: never, call: never) => boolean | PromiseLike<boolean>) | undefined;
  /** True if the person who approves a call may change its arguments. */
  readonly editable?: boolean | undefined;
  /** True if the person who approves a call may allow all further calls of the tool in the chat. */
  readonly remember?: boolean | undefined;
  /**
   * True if a call may be repeated, with the same `idempotencyKey`, if its process or its server died and its outcome is
   * unknown. Otherwise the model receives the answer that the outcome is unknown.
   */
  readonly repeatable?: boolean | undefined;
  /**
   * How long a call may take, from 1 to 86 400 seconds. If absent, 300. Then `abortSignal` is aborted. A result within 5 more
   * seconds still counts; after that the call fails. The run counts' limit too.
   */
  readonly timeoutSeconds?: number | undefined;
  /** If absent, the model sees the tool in every step. */
  readonly isEnabled?: IsEnabled | undefined;
}

export interface NamedTool extends AgentTool {
  readonly name: string;
}

export interface ToolDefinition<Schema extends InputSchema = InputSchema> {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Schema;
  /** If it returns an async iterable, the last value is the result, and the others are progress. Without it only the caller can run it. */
  readonly execute?: (input: InputOf<Schema>, call: ToolCall) => unknown;
  /** True if a person must approve a call before it is made. If a function throws, its call needs approval. */
  readonly needsApproval?: boolean | ((input: InputOf<Schema>, call: ApprovalCall) => boolean | PromiseLike<boolean>);
  /** True if the person who approves a call may change its arguments. */
  readonly editable?: boolean;
  /** True if the person who approves a call may allow all further calls of the tool in the chat. */
  readonly remember?: boolean;
  /** True if a call that was in progress when its process or its server died may be repeated. See `AgentTool`. */
  readonly repeatable?: boolean;
  /** How long a call may take. If absent, 300. See `AgentTool`. */
  readonly timeoutSeconds?: number;
  /** If absent, the model sees the tool in every step. */
  readonly isEnabled?: IsEnabled;
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

/** What is known about a run when its instructions are written. */
export interface AboutRun {
  /** The UTC day on which the run was admitted, as YYYY-MM-DD. */
  readonly date: string;
  /** The member of the integration who asks. Null if the request named none. */
  readonly member: RunMember | null;
  readonly userContext: unknown;
  /** The chat's state at the run's start. It is the same for the whole run. */
  readonly state: ChatState;
}

export interface RunMember {
  readonly consumerId: string;
  readonly name: string | null;
  readonly metadata: unknown;
}

/** Text, which may contain `{{user_context.x}}`, `{{member.x}}`, `{{state.x}}` and `{{date}}`; a text file; or a function. */
export type Instructions = string | TextFile | ((about: AboutRun) => string | Promise<string>);

/** A text file in the agency's folder, by its path from the file that names it: `{ file: './billing.md' }`. */
export interface TextFile {
  readonly file: string;
}

/** Absent values are left to the model. Not every model accepts every value. */
export interface ModelSettings {
  readonly temperature?: number;
  readonly topP?: number;
  readonly maxOutputTokens?: number;
  /** False if the model may call only one tool per answer. */
  readonly parallelToolCalls?: boolean;
  /** `auto`, `none`, `required`, or a tool's name. */
  readonly toolChoice?: string;
}

/** A language model of the AI SDK, specification v3 or v4, such as `google('gemini-3-pro')`. */
export interface ModelObject {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doStream(options: never): PromiseLike<unknown>;
}

/** `provider/model`, or a model of the AI SDK. Usage and prices name it `provider/model` as well. */
export type ModelChoice = string | ModelObject;

export type BuiltInTool =
  | 'list_files'
  | 'read_file'
  | 'search_files'
  | 'show_file'
  | 'write_file'
  | 'run_command'
  | 'web_search';

/** What a guardrail checks. */
export type GuardrailPosition = 'input' | 'output' | 'toolCall' | 'toolResult';

/** What every check knows. */
export interface GuardrailContext {
  /** The agent that gets the message, writes the answer or makes the call. */
  readonly agent: string;
  /** The member of the integration who asks. Null if the request named none. */
  readonly member: RunMember | null;
  readonly userContext: unknown;
}

/** A file of the user's message. */
export interface GuardrailAttachment {
  readonly name: string | null;
  readonly mediaType: string;
  readonly size: number;
  /** What the model is shown of a document or a text file. Null for images and for PDFs that the model reads itself. */
  readonly text: string | null;
}

/** What is checked, by the guardrail's position. */
export interface GuardrailSubjects {
  /** The user's message. A replacement is its text; the attachments stay. */
  readonly input: { readonly text: string; readonly attachments: readonly GuardrailAttachment[] };
  /** A text of the agent that answers the user. */
  readonly output: { readonly text: string };
  /** A call before it is made, also to another agent. A replacement is an object with all arguments. */
  readonly toolCall: { readonly tool: string; readonly arguments: unknown };
  /** A call's output, before the model sees it. A replacement is a text. */
  readonly toolResult: { readonly tool: string; readonly arguments: unknown; readonly output: string };
}

/** `pass`: nothing changes. `block`: with the reason. `replace`: with another value. `ask`: a person must approve the call. */
export type GuardrailVerdict<Position extends GuardrailPosition = GuardrailPosition> =
  | { readonly pass: true }
  | { readonly block: string }
  | { readonly replace: Position extends 'toolCall' ? Readonly<Record<string, unknown>> : string }
  | (Position extends 'toolCall' ? { readonly ask: true } : never);

export interface GuardrailDefinition<Position extends GuardrailPosition = GuardrailPosition> {
  /** 1 to 64 letters, digits, `_` and `-`, unique in the agency. */
  readonly name: string;
  readonly on: Position;
  /** Has 30 seconds. If it throws or takes longer, the run fails with `agency_error`; in a delegation, the call fails. */
  readonly check: (
    about: GuardrailContext & GuardrailSubjects[Position],
  ) => GuardrailVerdict<Position> | PromiseLike<GuardrailVerdict<Position>>;
}

/** A guardrail of any position. */
export type Guardrail = { readonly [Position in GuardrailPosition]: GuardrailDefinition<Position> }[GuardrailPosition];

export interface AgentDefinition {
  /** 1 to 64 characters, unique in the agency regardless of case. */
  readonly name: string;
  /** What the agent does. Required if a flow leads to the agent: the other agents read it. */
  readonly description?: string;
  readonly instructions: Instructions;
  /** If absent, the integration's model, of the agency or of the installation. */
  readonly model?: ModelChoice;
  /** Models that are asked if `model` cannot answer, at most 3. If absent, those of the agency. */
  readonly fallback?: readonly ModelChoice[];
  readonly settings?: ModelSettings;
  /** If absent, no reasoning is requested. */
  readonly reasoning?: Reasoning;
  /** Tools made by `defineTool` and names of built-in tools, or tools by their names, as the AI SDK has them. */
  readonly tools?: readonly (NamedTool | BuiltInTool)[] | Readonly<Record<string, AgentTool>>;
  /**
   * True if the agent gets all file tools: `list_files`, `read_file`, `search_files` and `show_file`, which read the files of the run's
   * integration. False if it gets only the file tools in `tools`. If absent, it gets these, or all if `tools` has none.
   * `below` is like true, and restricts the agent to a folder, such as `members/{{member.consumerId}}`.
   */
  readonly files?: boolean | { readonly below: string };
  /**
   * True if the agent gets `write_file` and `run_command`, which change the files of the run's integration. If absent, it
   * gets those in `tools`.
   */
  readonly sandbox?: boolean;
  /** The names of the agency's skills that the agent can use. If absent, all of them. */
  readonly skills?: readonly string[];
  /** The names of the MCP servers whose tools the agent has. If absent, all of the agency. */
  readonly mcp?: readonly string[];
  /** The tool names, also built-in ones, whose calls a person must approve. */
  readonly approval?: readonly string[];
  /** The tool names whose arguments an approval may change, besides tools with `editable`. */
  readonly editable?: readonly string[];
  /** The tool names that an approval may allow for the chat, besides tools with `remember`. */
  readonly remember?: readonly string[];
  /** The schema of the agent's answer. */
  readonly output?: InputSchema | TextFile;
  /** Messages that a user may begin with, at most 10. */
  readonly starters?: readonly string[];
  /** Made by `defineGuardrail`. They are asked after the agency's, in their order. */
  readonly guardrails?: readonly Guardrail[];
}

export interface FlowDefinition {
  /** An agent, its name, or `*` for every agent. */
  readonly from: AgentDefinition | string;
  readonly to: AgentDefinition | string;
  /** If absent, `delegate`. */
  readonly kind?: 'delegate' | 'handoff';
  /** `none` if the recipient of a delegation must not see its earlier exchanges with the sender. If absent, `chat`. */
  readonly memory?: 'chat' | 'none';
  /** If absent, the model of `from` sees the flow in every step. */
  readonly isEnabled?: IsEnabled;
  /** Only of a hand-off. `chat`: later runs of the chat begin with `to`. If absent, it lasts to the end of its run. */
  readonly lasts?: 'chat';
}

export interface AgencyLimits {
  /** Model calls of a run, of all its agents together. */
  readonly steps?: number;
  /** How deep delegations may be nested. */
  readonly depth?: number;
  readonly handOffs?: number;
  /** Characters of a tool's output that the model receives. */
  readonly toolOutputCharacters?: number;
}

/**
 * An MCP server, by `url` (streamable HTTP) or by `command` (a program that talks over stdin and stdout). `${NAME}` is a
 * variable of the server's environment.
 */
export interface McpServerDefinition {
  readonly url?: string;
  /** May contain `{{user_context.x}}`, `{{member.x}}` and `{{date}}`; each run then has its own session. */
  readonly headers?: Readonly<Record<string, string>>;
  /** OAuth client credentials for `url`. `issuer` is the only authorization server that may get them. */
  readonly oauth?: {
    readonly clientId: string;
    readonly clientSecret: string;
    readonly scope?: string;
    readonly issuer?: string;
  };
  readonly command?: string;
  readonly args?: readonly string[];
  /** Besides HOME, LOGNAME, PATH, SHELL, TERM and USER. May contain the same placeholders as `headers`. */
  readonly env?: Readonly<Record<string, string>>;
  /** A path below the agency's folder. If absent, the folder itself. */
  readonly cwd?: string;
  /** The tools that agents get, by the server's names. If absent, all. */
  readonly tools?: readonly string[];
  /** Begins the tools' names. If absent, the server's name; `''` for none. */
  readonly prefix?: string;
  /** Tools whose calls may be repeated if their outcome is unknown, besides the tools that the server declares read-only. */
  readonly repeatable?: readonly string[];
  /** The tools whose calls a person must approve, by the server's names; `always` for all. If absent, none. */
  readonly approval?: 'always' | 'never' | readonly string[];
  /** `run`: each run has its own session. If absent, the runs of the agency share one. */
  readonly session?: 'shared' | 'run';
  /** How long a call may be without a sign of life. If absent, 60. */
  readonly timeoutSeconds?: number;
}

export interface AgencyDefinition {
  readonly name: string;
  /** Precede every agent's instructions. */
  readonly sharedInstructions?: string | TextFile;
  /** For agents that name no model. */
  readonly model?: ModelChoice;
  /** For agents that name no fallback. */
  readonly fallback?: readonly ModelChoice[];
  /** The first one is the default agent unless `entryPoints` or `defaultAgent` name another. */
  readonly agents: readonly AgentDefinition[];
  readonly defaultAgent?: AgentDefinition | string;
  /** The agents that callers may address, or their names. If absent, all of them. */
  readonly entryPoints?: readonly (AgentDefinition | string)[];
  /** MCP servers by their names: 1 to 20 lower-case letters, digits and `-`. */
  readonly mcp?: Readonly<Record<string, McpServerDefinition>>;
  /** Made by `delegate` and `handOff`, or written as `A -> B` (delegation) and `A => B` (hand-off). */
  readonly flows?: readonly (FlowDefinition | string)[];
  /** True if `user_context` follows the instructions as JSON. */
  readonly contextToModel?: boolean;
  /** True if model providers and MCP servers get the `traceparent` of the call. */
  readonly propagateTrace?: boolean;
  /**
   * What happens if a chat becomes too long for its models. `summarize`: a model sums up the oldest turns, and later prompts
   * begin with the summary. `leave_out`: the oldest turns are left out. If absent, `summarize`.
   */
  readonly longChats?: 'summarize' | 'leave_out';
  /** Sums up the oldest turns of long chats. If absent, the model of the agent that begins the run. */
  readonly summaryModel?: ModelChoice;
  /** The smaller of these limits and those of the server count. */
  readonly limits?: AgencyLimits;
  /** Made by `defineGuardrail`. They are asked for all agents, in their order, before the agent's. */
  readonly guardrails?: readonly Guardrail[];
}

export function defineTool<Schema extends InputSchema>(tool: ToolDefinition<Schema>): ToolDefinition<Schema> {
  return tool;
}

export function defineGuardrail<Position extends GuardrailPosition>(
  guardrail: GuardrailDefinition<Position>,
): GuardrailDefinition<Position> {
  return guardrail;
}

export function defineAgent(agent: AgentDefinition): AgentDefinition {
  return agent;
}

export function defineAgency(agency: AgencyDefinition): AgencyDefinition {
  return agency;
}

type Party = FlowDefinition['from'];

/** `from` may ask `to` with `send_message`, and continues with its answer. */
export function delegate(
  from: Party,
  to: Party,
  options: Pick<FlowDefinition, 'memory' | 'isEnabled'> = {},
): FlowDefinition {
  return { from, to, kind: 'delegate', ...options };
}

/** `from` may hand the conversation over to `to`. */
export function handOff(
  from: Party,
  to: Party,
  options: Pick<FlowDefinition, 'lasts' | 'isEnabled'> = {},
): FlowDefinition {
  return { from, to, kind: 'handoff', ...options };
}
