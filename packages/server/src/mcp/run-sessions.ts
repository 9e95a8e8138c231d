import { unlessAborted } from '@runwire/lib/unless-aborted.ts';
import { withTimeout } from '@runwire/lib/with-timeout.ts';
import type { McpSession } from '@runwire/mcp-sessions';
import { resultText, resultWithImages, type ServerTool, type ServerTools, selectedTools } from '@runwire/mcp-sessions';
import type { McpServer, McpTool, McpTools, RunServers } from '../agent/mcp-port.ts';
import { alwaysAsks, type CheckResult, checkedCall, type ModelTool } from '../agent/ports.ts';
import type { Logger } from '../telemetry/logger.ts';
import { possibleNames, toolName } from './tool-names.ts';

/** How long a run waits for servers whose tools are not known, all waits together. */
const RUN_WAIT_MS = 5000;

type About = Parameters<McpServer['address']>[0];

interface SessionLease {
  readonly session: McpSession;
  readonly release: () => void;
}

export interface RunSessionsDeps {
  readonly agency: string;
  readonly take: (server: McpServer, about: About) => SessionLease;
  readonly logger: Logger;
}

interface RunServer extends SessionLease {
  /** What the run sees to its end. Null if no tools are known. */
  tools: ServerTools | null;
  /** What was wrong with the server when the run asked for its tools. */
  readonly problem: string | null;
}

/** A tool with the name that the model uses. */
interface NamedTool {
  readonly server: McpServer;
  readonly tool: ServerTool;
  readonly possibleNames: readonly string[];
  readonly shown: ModelTool;
}

interface NamedTools {
  readonly of: readonly (ServerTools | null)[];
  readonly named: readonly NamedTool[];
  readonly shown: readonly ModelTool[];
}

/** By the list of servers of an agent, which is the same in all its runs. */
const namedByServers = new WeakMap<readonly McpServer[], NamedTools>();

/** The sessions that one run uses. */
export class RunSessions implements RunServers {
  readonly #deps: RunSessionsDeps;
  readonly #used = new Map<string, Promise<RunServer>>();
  #waitUntil: number | null = null;
  #isReleased = false;

  constructor(deps: RunSessionsDeps) {
    this.#deps = deps;
  }

  async tools(
    servers: readonly McpServer[],
    taken: ReadonlySet<string>,
    about: () => Promise<About>,
    signal: AbortSignal,
  ): Promise<McpTools> {
    this.#waitUntil ??= performance.now() + RUN_WAIT_MS;
    const used = await unlessAborted(signal, Promise.all(servers.map((server) => this.#use(server, about))));
    const { named, shown } = this.#name(
      servers,
      used.map(({ tools }) => tools),
      taken,
    );
    const sessions = new Map(servers.map((server, index) => [server, used[index]?.session as McpSession]));
    const tools = named.map((one) => this.#getTool(one, sessions.get(one.server) as McpSession));
    const { agency } = this.#deps;
    const failed = used.flatMap(({ problem }, index) =>
      problem === null ? [] : [{ agency, server: servers[index]?.name ?? '', error: problem }],
    );
    return { tools, isComplete: used.every((one) => one.tools !== null), shown, failed };
  }

  #use(server: McpServer, about: () => Promise<About>): Promise<RunServer> {
    let used = this.#used.get(server.name);
    if (used === undefined) {
      used = this.#begin(server, about);
      this.#used.set(server.name, used);
    }
    return used;
  }

  async #begin(server: McpServer, about: () => Promise<About>): Promise<RunServer> {
    const taken = this.#deps.take(server, await about());
    const { session } = taken;
    const leftMs = Math.max(0, (this.#waitUntil ?? 0) - performance.now());
    await withTimeout(session.settled(), leftMs, () => {});
    return { ...taken, tools: session.tools, problem: session.problem };
  }

  /** Names the tools once per list of tools, because every run needs them. */
  #name(servers: readonly McpServer[], of: readonly (ServerTools | null)[], taken: ReadonlySet<string>): NamedTools {
    const known = namedByServers.get(servers);
    if (known?.of.every((tools, index) => tools === of[index]) === true) return known;
    const names = new Set(taken);
    const named = servers.flatMap((server, index): NamedTool[] => {
      const tools = of[index] ?? null;
      return tools === null ? [] : selectedTools(tools, server).flatMap((tool) => this.#nameTool(server, tool, names));
    });
    const made = { of, named, shown: named.map(({ shown }) => shown) };
    namedByServers.set(servers, made);
    return made;
  }

  #nameTool(server: McpServer, tool: ServerTool, names: Set<string>): NamedTool[] {
    const name = toolName(server, tool.name, names);
    if (name === null) {
      this.#deps.logger.warn({ server: server.name, tool: tool.name }, 'an MCP tool has no free name and is left out');
      return [];
    }
    const { description, inputSchema } = tool;
    const shown = { name, description, inputSchema };
    return [{ server, tool, possibleNames: possibleNames(server, tool.name), shown }];
  }

  #getTool({ server, tool, possibleNames: names, shown }: NamedTool, session: McpSession): McpTool {
    const needsApproval = server.approval === 'always' || server.approval.includes(tool.name);
    return {
      ...shown,
      possibleNames: names,
      repeatable: tool.isReadOnly || server.repeatable.includes(tool.name),
      asks: needsApproval ? alwaysAsks('approval', checkInput) : undefined,
      checkInput,
      call: checkedCall({
        checkInput,
        execute: async (input, { idempotencyKey, traceparent, abortSignal, progress }) => {
          const result = await session.call({
            tool: tool.name,
            input: input as Readonly<Record<string, unknown>>,
            idempotencyKey,
            traceparent,
            silenceMs: server.silenceMs,
            signal: abortSignal,
            onProgress: progress,
          });
          if (result.isError === true) throw new Error(resultText(result));
          return resultWithImages(result);
        },
      }),
    };
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    for (const used of this.#used.values()) {
      used.then(
        ({ release }) => release(),
        () => {},
      );
    }
  }
}

/** The server checks the rest itself. */
function checkInput(value: unknown): CheckResult {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? { value } : { problem: 'they must be an object.' };
}
