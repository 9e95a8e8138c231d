/** What a tool is told about the call it serves. */
export interface ToolCall {
  /** The same in every attempt of the run: hand it to whatever must not happen twice. */
  readonly idempotencyKey: string;
  readonly callId: string;
  readonly userContext: unknown;
  /** Aborted when the run is cancelled or its server stops. */
  readonly abortSignal: AbortSignal;
}

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly execute: (input: unknown, call: ToolCall) => unknown;
}

export interface AgentDefinition {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  /** `provider/model`; where absent the installation's own choice. */
  readonly model?: string;
  readonly tools?: readonly ToolDefinition[];
}

export interface AgencyDefinition {
  readonly name: string;
  /** The first one is the default unless `defaultAgent` names another. */
  readonly agents: readonly AgentDefinition[];
  readonly defaultAgent?: string;
  /** Names of the agents that callers may address; where absent, all of them. */
  readonly entryPoints?: readonly string[];
}

export function defineTool(tool: ToolDefinition): ToolDefinition {
  return tool;
}

export function defineAgent(agent: AgentDefinition): AgentDefinition {
  return agent;
}

export function defineAgency(agency: AgencyDefinition): AgencyDefinition {
  return agency;
}
