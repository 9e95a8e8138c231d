import type {
  AboutRun,
  BuiltInTool,
  AgencyLimits as GivenLimits,
  ModelSettings,
  Reasoning,
  RunMember,
} from '@runwire/agency';
import type { FilesBelow } from '../agent/files-port.ts';
import type { McpServer } from '../agent/mcp-port.ts';
import type { CheckResult, Guardrail, IsEnabled, Model, Tool } from '../agent/ports.ts';
import { SANDBOX_TOOLS } from '../agent/workspace-port.ts';
import type { AgencyCode } from './process/agency-code.ts';

export type { AboutRun, BuiltInTool, RunMember };

export type AgencyLimits = Required<GivenLimits>;

export interface LoadedFlow {
  readonly to: string;
  readonly kind: 'delegate' | 'handoff';
  /** `none` if the recipient of a delegation does not see its earlier exchanges with the sender. */
  readonly memory: 'chat' | 'none';
  /** `chat` if the next runs of the chat begin with the recipient of a hand-off. Absent if it lasts to the end of its run. */
  readonly lasts?: 'chat';
  /** Absent if the model sees it in every step. */
  readonly isEnabled?: IsEnabled | undefined;
}

/** The schema of an agent's answer. */
export interface OutputSchema {
  readonly jsonSchema: Readonly<Record<string, unknown>>;
  readonly check: (value: unknown) => CheckResult | Promise<CheckResult>;
}

/** A folder below `skills`. Its `SKILL.md` describes how it is used. */
export interface Skill {
  readonly name: string;
  /** When it is useful. */
  readonly description: string;
}

/** An agent's instructions as they are in the agency's files. */
export interface InstructionTexts {
  readonly shared: string;
  /** Null if a function writes it. */
  readonly own: string | null;
  readonly contextToModel: boolean;
  readonly files: string;
}

export interface LoadedAgent {
  readonly name: string;
  readonly description: string;
  /** Shared and own instructions and `contextToModel`. */
  readonly instructions: (about: AboutRun) => string | Promise<string>;
  /** The same without the agency's code. Transactions estimate with it, because that code may never return. */
  readonly fixedInstructions: (about: AboutRun) => string;
  readonly instructionTexts: InstructionTexts;
  /** True if `instructions` or `filesBelow` uses the member, which must then be read from the store. */
  readonly usesMember: boolean;
  /** How `instructions` uses the chat's state: a text names it, or a function may use it. Null if neither is so. */
  readonly usesState: 'text' | 'function' | null;
  /** `provider/model`. Null if the agent names none. See `Agencies.getModel`. */
  readonly model: string | null;
  /** The agent's own, otherwise the agency's. */
  readonly fallback: readonly string[];
  /** The models that the agency brings as objects, by their names. They win over those of the installation. */
  readonly ownModels: ReadonlyMap<string, Model>;
  readonly settings: ModelSettings;
  readonly reasoning: Reasoning | undefined;
  /** The agent's own tools. */
  readonly tools: readonly Tool[];
  readonly builtIn: readonly BuiltInTool[];
  /** The names of tools whose calls a person must approve, besides tools with a rule of their own. */
  readonly approval: ReadonlySet<string>;
  /** The names of tools whose arguments an approval may change, besides tools that say so themselves. */
  readonly editable: ReadonlySet<string>;
  /** The names of tools that an approval may allow for the chat, besides tools that say so themselves. */
  readonly remember: ReadonlySet<string>;
  /** The MCP servers whose tools it has besides. */
  readonly mcp: readonly McpServer[];
  /** The folder to which the agent is restricted; null if it is not. */
  readonly filesBelow: ((about: AboutRun) => FilesBelow) | null;
  /** The skills that it can read. */
  readonly skills: readonly Skill[];
  /** Null if its answers are free text. */
  readonly output: OutputSchema | null;
  /** The agency's, then its own. Null if there are none. */
  readonly guardrails: readonly Guardrail[] | null;
  readonly starters: readonly string[];
  /** The flows that begin at this agent, without wildcards. */
  readonly flows: readonly LoadedFlow[];
}

/** True if the agent may run commands or write files. */
export const usesSandbox = ({ builtIn }: Pick<LoadedAgent, 'builtIn'>): boolean =>
  SANDBOX_TOOLS.some((name) => builtIn.includes(name));

/** True if an earlier version would not execute the agent's runs as this one does, even if the chat has no state. */
export const needsState = ({ usesState }: Pick<LoadedAgent, 'usesState'>): boolean => usesState === 'text';

/** What happens if a chat is longer than the window of its models. */
export interface LongChats {
  /** False if the oldest turns are left out. */
  readonly isSummarized: boolean;
  /** The model that sums up. Null if it is the agent's. */
  readonly modelId: string | null;
  /** The same model if the agency brings it as an object; otherwise null. */
  readonly ownModel: Model | null;
}

/** An agency that passed all checks. A run keeps the object that it started with. */
export interface LoadedAgency {
  readonly id: string;
  readonly name: string;
  readonly source: 'bundled' | 'yaml' | 'markdown' | 'typescript';
  /** SHA-256 of everything that the agency loads: the first 16 hex digits. */
  readonly version: string;
  /** In milliseconds since 1970. */
  readonly loadedAt: number;
  /** `provider/model`. Null if the agency names none. */
  readonly model: string | null;
  readonly agents: ReadonlyMap<string, LoadedAgent>;
  readonly mcp: readonly McpServer[];
  /** Asked for all agents. */
  readonly guardrails: readonly Guardrail[];
  /** Its folder's real path; null if it is not in a folder. */
  readonly folder: string | null;
  /** True if providers and MCP servers get the `traceparent` of a call. */
  readonly propagateTrace: boolean;
  readonly longChats: LongChats;
  readonly entryPoints: readonly string[];
  readonly defaultAgent: string;
  /** The agents to which a lasting hand-off leads. */
  readonly lastingAgents: ReadonlySet<string>;
  /** True if a function can hide a tool or a flow from one of its models. */
  readonly isConditional: boolean;
  /** The smaller of the agency's limits and the server's. */
  readonly limits: AgencyLimits;
  /** Null if the agency has no code, or if its code is part of this process. */
  readonly code: AgencyCode | null;
}
