import type { AskForeign, ReadVariable } from '@runwire/mcp-sessions';
import { leftOutSentence, McpSession, type ServerTools, type SessionState, selectedTools } from '@runwire/mcp-sessions';
import type { McpServer, RunServers } from '../agent/mcp-port.ts';
import type { ModelTool } from '../agent/ports.ts';
import { VERSION } from '../domain/version.ts';
import type { Logger } from '../telemetry/logger.ts';
import { RunSessions } from './run-sessions.ts';
import type { ServerProblem } from './server-problem.ts';
import { toolName, wholeName } from './tool-names.ts';

export interface McpServersOptions {
  readonly variable: ReadVariable;
  readonly askForeign: AskForeign;
  readonly logger: Logger;
}

/** An agency with the servers that its current version names. */
export interface AgencyServers {
  readonly agency: string;
  readonly servers: readonly McpServer[];
}

/** A server as `/v2/agencies` shows it. */
export interface ServerState extends SessionState {
  readonly server: string;
  /** How many tools agents get. */
  readonly tools: number;
  /** The last line that its program wrote to stderr. Runs of several owners may have caused it. */
  readonly lastOutput: string | null;
}

/** A tool of a server. */
export interface ServerTool extends ModelTool {
  readonly server: string;
}

/** A session that an agency share's runs. */
interface SharedSession {
  readonly session: McpSession;
  /** False if the agency's current version does not name it any more. */
  isNamed: boolean;
  runs: number;
}

/** The newest session of a server that each run connects itself. */
interface NewestSession {
  readonly session: McpSession;
  state: SessionState | null;
}

const NO_RUN = { date: '', member: null, userContext: undefined, state: {} };

/** This node's sessions with MCP servers: one per agency and server, or one per run. */
export class McpServers implements AsyncDisposable {
  readonly #options: McpServersOptions;
  readonly #shared = new Map<string, SharedSession>();
  /** By agency and server. */
  readonly #newest = new Map<string, NewestSession>();
  readonly #lastTools = new Map<string, ServerTools>();
  /** The sessions of runs. */
  readonly #open = new Set<McpSession>();
  readonly #closing = new Set<Promise<void>>();
  readonly #startedAt = Date.now();
  #agencies: readonly AgencyServers[] = [];

  constructor(options: McpServersOptions) {
    this.#options = options;
  }

  /** Connects the servers of these agencies in the background, and ends sessions that are no longer named. */
  use(agencies: readonly AgencyServers[]): void {
    this.#agencies = agencies;
    const named = new Set<string>();
    for (const { agency, servers } of agencies) {
      for (const server of servers) {
        if (server.isPerRun) continue;
        named.add(this.#shareKey(agency, server));
        this.#share(agency, server).isNamed = true;
      }
    }
    for (const [key, shared] of this.#shared) {
      if (named.has(key)) continue;
      shared.isNamed = false;
      this.#closeUnused(key, shared);
    }
  }

  #shareKey(agency: string, server: McpServer): string {
    return `${agency}\0${server.name}\0${JSON.stringify(server.address(NO_RUN))}`;
  }

  #share(agency: string, server: McpServer): SharedSession {
    const key = this.#shareKey(agency, server);
    let shared = this.#shared.get(key);
    if (shared === undefined) {
      const session = new McpSession({
        ...this.#about(agency, server),
        address: server.address(NO_RUN),
        known: null,
      });
      shared = { session, isNamed: false, runs: 0 };
      this.#shared.set(key, shared);
    }
    return shared;
  }

  #about(agency: string, { name: server }: McpServer) {
    return { ...this.#options, client: { name: 'runwire', version: VERSION }, server, labels: { agency, server } };
  }

  #closeUnused(key: string, shared: SharedSession): void {
    if (shared.isNamed || shared.runs > 0) return;
    this.#shared.delete(key);
    this.#close(shared.session);
  }

  #close(session: McpSession): void {
    const closed = session.close().catch((error: unknown) => {
      this.#options.logger.error({ err: error }, 'a session with an MCP server could not be closed');
    });
    this.#closing.add(closed);
    void closed.finally(() => this.#closing.delete(closed));
  }

  /** The servers of a run of the agency. */
  openRun(agency: string): RunServers {
    return new RunSessions({
      agency,
      logger: this.#options.logger,
      take: (server, about) => (server.isPerRun ? this.#connect(agency, server, about) : this.#borrow(agency, server)),
    });
  }

  /** Uses the session that the agency share's runs, which may be one of an earlier version of the agency. */
  #borrow(agency: string, server: McpServer) {
    const key = this.#shareKey(agency, server);
    const shared = this.#share(agency, server);
    shared.runs += 1;
    const release = () => {
      shared.runs -= 1;
      this.#closeUnused(key, shared);
    };
    return { session: shared.session, release };
  }

  #connect(agency: string, server: McpServer, about: Parameters<McpServer['address']>[0]) {
    const id = `${agency}\0${server.name}`;
    // Another member may have other tools.
    const known = server.isFilled ? null : (this.#lastTools.get(id) ?? null);
    const session = new McpSession({
      ...this.#about(agency, server),
      address: server.address(about),
      known,
    });
    this.#open.add(session);
    const newest: NewestSession = { session, state: null };
    this.#newest.set(id, newest);
    const release = () => {
      newest.state = session.state;
      if (session.tools !== null) this.#lastTools.set(id, session.tools);
      this.#open.delete(session);
      this.#close(session);
    };
    return { session, release };
  }

  /** The servers that the current version of the agency names. */
  states(agency: string): readonly ServerState[] {
    const named = this.#agencies.find((one) => one.agency === agency)?.servers ?? [];
    return named.map((server) => this.#getState(agency, server));
  }

  #getState(agency: string, server: McpServer): ServerState {
    const { session, state } = this.#newestSession(agency, server);
    const known = state ?? session?.state ?? { state: 'connecting', error: null, since: this.#startedAt };
    return { ...getState(server, known, session?.tools ?? null), lastOutput: session?.lastOutput ?? null };
  }

  /** Connects nothing: a session that begins while the node stops would not be ended. */
  #newestSession(agency: string, server: McpServer): Partial<NewestSession> {
    const sessions = server.isPerRun ? this.#newest : this.#shared;
    return sessions.get(server.isPerRun ? `${agency}\0${server.name}` : this.#shareKey(agency, server)) ?? {};
  }

  /**
   * One promise per server that an agency share's runs: resolves when its first try to connect has ended, to what is
   * wrong with it, or to null.
   */
  firstProblems(): readonly Promise<ServerProblem | null>[] {
    return this.#agencies.flatMap(({ agency, servers }) =>
      servers
        .filter(({ isPerRun }) => !isPerRun)
        .map(async (server) => {
          await this.#newestSession(agency, server).session?.firstTry;
          const { error } = this.#getState(agency, server);
          return error === null ? null : { agency, server: server.name, error };
        }),
    );
  }

  /** The names that the known tools of the agency's servers have, unless another tool has the name too. */
  toolNames(agency: string): ReadonlySet<string> {
    const named = this.#agencies.find((one) => one.agency === agency)?.servers ?? [];
    const names = named.flatMap((server) => {
      const tools = this.#newestSession(agency, server).session?.tools ?? null;
      return tools === null ? [] : selectedTools(tools, server).map(({ name }) => wholeName(server, name));
    });
    return new Set(names);
  }

  /**
   * The tools that these servers of the agency have now, as this node knows them, named as for an agent with the other tools
   * `taken`. What a server shows to one member is not for others.
   */
  tools(agency: string, servers: readonly McpServer[], taken: ReadonlySet<string>): readonly ServerTool[] {
    const names = new Set(taken);
    return servers.flatMap((server) => {
      const tools = server.isFilled ? null : (this.#newestSession(agency, server).session?.tools ?? null);
      if (tools === null) return [];
      return selectedTools(tools, server).flatMap(({ name: ofServer, description, inputSchema }) => {
        const name = toolName(server, ofServer, names);
        return name === null ? [] : [{ server: server.name, name, description, inputSchema }];
      });
    });
  }

  /** All servers of all agencies. */
  allStates(): readonly (ServerState & { readonly agency: string })[] {
    return this.#agencies.flatMap(({ agency }) => this.states(agency).map((state) => ({ ...state, agency })));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agencies = [];
    const shared = [...this.#shared.values()].map(({ session }) => session);
    for (const session of [...shared, ...this.#open]) this.#close(session);
    this.#shared.clear();
    await Promise.all(this.#closing);
  }
}

function getState(server: McpServer, state: SessionState, tools: ServerTools | null): Omit<ServerState, 'lastOutput'> {
  if (tools === null) return { ...state, server: server.name, tools: 0 };
  const error = state.error ?? leftOutSentence(tools, server);
  return { ...state, error, server: server.name, tools: selectedTools(tools, server).length };
}
