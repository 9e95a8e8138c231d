import type { AboutRun } from '@runwire/agency';
import type { McpAddress } from '@runwire/mcp-sessions';
import type { ModelTool, Tool } from './ports.ts';

/** An MCP server as an agency names it. */
export interface McpServer {
  readonly name: string;
  /** Begins its tools' names; '' if they have no prefix. */
  readonly prefix: string;
  /** The tools that agents get, by the server's names; null if they get all. */
  readonly tools: readonly string[] | null;
  /** Tools whose calls may be repeated, besides the tools that the server declares read-only. */
  readonly repeatable: readonly string[];
  /** The tools whose calls a person must approve, by the server's names, or all. */
  readonly approval: readonly string[] | 'always';
  /** True if each run has its own session. */
  readonly isPerRun: boolean;
  /** True if the address contains the run's values. */
  readonly isFilled: boolean;
  /** How long a call may be without a sign of life. */
  readonly silenceMs: number;
  readonly address: (about: AboutRun) => McpAddress;
}

/** A tool of an MCP server. */
export interface McpTool extends Tool {
  /** The names that it can have. Which one it has depends on the other servers' tools. */
  readonly possibleNames: readonly string[];
}

/** The tools of an agent's servers in one run. */
export interface McpTools {
  readonly tools: readonly McpTool[];
  /** False if a server's tools are not known. */
  readonly isComplete: boolean;
  /** The same list in all runs, until a server changes its tools. */
  readonly shown: readonly ModelTool[];
  /** The servers that were not connected when the run asked for their tools. */
  readonly failed: readonly FailedServer[];
}

/** An MCP server that a run cannot use now. */
export interface FailedServer {
  readonly agency: string;
  readonly server: string;
  /** Why it cannot be used, and what to do. */
  readonly error: string;
}

/** The MCP servers that one run uses. */
export interface RunServers {
  /**
   * Resolves to the tools that are known, within 5 s for the whole run. `taken` are the names of the agent's other tools.
   * The tools of a server stay the same to the end of the run.
   */
  tools(
    servers: readonly McpServer[],
    taken: ReadonlySet<string>,
    about: () => Promise<AboutRun>,
    signal: AbortSignal,
  ): Promise<McpTools>;
  /** Ends this run's sessions. Sessions that the agency no longer names end after their last run. */
  release(): void;
}

export type OpenRunServers = (agency: string) => RunServers;

export const NO_MCP_TOOLS: McpTools = { tools: [], isComplete: true, shown: [], failed: [] };
