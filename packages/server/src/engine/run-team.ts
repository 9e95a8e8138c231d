import type { AboutRun, LoadedAgency, LoadedAgent, RunMember } from '../agencies/loaded-agency.ts';
import { type McpTool, type McpTools, NO_MCP_TOOLS, type RunServers } from '../agent/mcp-port.ts';
import { alwaysAsks, type Model, type Tool } from '../agent/ports.ts';
import type { Exchange, Team, TeamAgent } from '../agent/team.ts';
import { fileTools } from '../agent/tools/file-tools.ts';
import type { AdmittedRun } from '../domain/admitted-run.ts';
import { RunFailure } from '../domain/run-failure.ts';
import { unlessAborted } from '../lib/unless-aborted.ts';
import { stepOutcome } from '../runs/journal.ts';
import { delegationsOfChat } from '../store/queries/chats.ts';
import { aboutRun, memberOf } from './about-run.ts';
import { agentWindow, handOffReach, reachedWindow } from './agent-windows.ts';
import { checkApproval } from './check-approval.ts';
import { clientTools } from './client-tools.ts';
import type { EngineDeps, FilesScope, FindModel } from './deps.ts';
import { fixedParts, ownToolNames } from './fixed-parts.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import type { WatchedRun } from './run-watch.ts';
import type { StopHandle } from './stop-handle.ts';

/** How many of its newest exchanges with the sender the recipient of a message sees, besides those of the run. */
const MAX_EXCHANGES = 50;

type TeamDeps = Pick<
  EngineDeps,
  'agencies' | 'models' | 'files' | 'store' | 'retryMs' | 'prompt' | 'mcp' | 'commands' | 'logger'
>;

/** The agents of a run, each with its model, its tools and the agents that it can reach. */
export class RunTeam implements Team, Disposable {
  readonly #deps: TeamDeps;
  readonly #models: FindModel;
  readonly #run: AdmittedRun;
  readonly #agency: LoadedAgency | null;
  readonly #watched: WatchedRun;
  readonly #stop: StopHandle;
  readonly #servers: RunServers;
  readonly #code: Disposable | null;
  readonly #agents = new Map<string, Promise<TeamAgent>>();
  #member: Promise<RunMember | null> | null = null;
  /** The runs that this one continues. Their exchanges count as its own. */
  chain: readonly string[] = [];

  /** `agency` is the version that the run started with; null if it does not exist any more. */
  constructor(deps: TeamDeps, run: AdmittedRun, agency: LoadedAgency | null, watched: WatchedRun, stop: StopHandle) {
    this.#deps = deps;
    this.#models = deps.models();
    this.#run = run;
    this.#agency = agency;
    this.#watched = watched;
    this.#stop = stop;
    this.#servers = deps.mcp(run.agency);
    this.#code = agency?.code?.use() ?? null;
  }

  has(name: string): boolean {
    return this.#agency?.agents.has(name) === true;
  }

  agent(name: string): Promise<TeamAgent> {
    let agent = this.#agents.get(name);
    if (agent === undefined) {
      agent = this.#prepare(name);
      this.#agents.set(name, agent);
    }
    return agent;
  }

  async #prepare(name: string): Promise<TeamAgent> {
    const { agencies, store, prompt } = this.#deps;
    const agency = this.#agency;
    const agent = agency?.agents.get(name);
    if (agency === null || agent === undefined)
      throw new RunFailure('internal_error', `The agent \`${name}\` does not exist.`);
    const { id, model } = this.#modelOf(agent);
    if (model === null) throw new RunFailure('internal_error', `The model \`${id}\` does not exist.`);
    const setting = {
      agencies,
      agency,
      ofIntegration: this.#run.model,
      models: this.#models,
      otherwise: prompt.windowTokens,
    };
    const about = await retryWhileUnavailable(this.#deps, this.#stop, () => aboutRun(store.reads, this.#run, agent));
    const instructions = this.#write(agency, agent, about);
    const mcp = await this.#mcpToolsOf(agent);
    const parts = fixedParts(agency, agent, mcp.shown, this.#deps.commands?.tools.shown ?? []);
    // Tools of the request belong to the agents that speak with the caller.
    const speaks = handOffReach(agency, this.#run.agent).includes(agent);
    const brought = speaks ? this.#broughtBeside(mcp) : [];
    return {
      name,
      // Code of the agency that does not return must not delay the end of the run.
      instructions:
        typeof instructions === 'string' ? instructions : await unlessAborted(this.#stop.signal, instructions),
      model: this.#watched.guard(model),
      fallback: this.#fallbackOf(agent).map((one) => this.#watched.guard(one)),
      windowTokens: agentWindow(setting, agent),
      reachedWindowTokens: reachedWindow(setting, name),
      tools: this.#approved(agent, [
        ...this.#toolsOf(agent, filesScope(agency, agent, about)),
        ...mcp.tools,
        ...brought,
      ]),
      webSearch: agent.builtIn.includes('web_search'),
      reasoning: agent.reasoning,
      settings: agent.settings,
      output: agent.output,
      failedServers: mcp.failed,
      ...parts,
      modelTools: brought.length === 0 ? parts.modelTools : [...parts.modelTools, ...brought],
    };
  }

  /** Rejects with a `RunFailure` if the function of the agency fails. */
  #write({ id }: LoadedAgency, agent: LoadedAgent, about: AboutRun): string | Promise<string> {
    const written = agent.instructions(about);
    if (typeof written === 'string') return written;
    const checked = written.catch((error: unknown) => {
      const { name } = agent;
      this.#deps.logger.error({ err: error, agency: id, agent: name }, 'a function of an agency failed: instructions');
      const failed = `The function \`instructions\` of the agent \`${name}\` of the agency \`${id}\` failed`;
      throw new RunFailure('agency_error', `${failed}; the log of the server has the reason.`, { cause: error });
    });
    // It is awaited after the tools of MCP servers are known, and may fail before.
    checked.catch(() => {});
    return checked;
  }

  /**
   * `approval` counts whatever the tool's own rule is. A tool that only the caller can run asks already. A tool of an MCP
   * server is found by each name that it can have: another server may take one name by listing a tool.
   */
  #approved({ approval }: LoadedAgent, tools: readonly (Tool | McpTool)[]): readonly Tool[] {
    if (approval.size === 0) return tools;
    const isNamed = (tool: Tool | McpTool) =>
      approval.has(tool.name) || ('possibleNames' in tool && tool.possibleNames.some((name) => approval.has(name)));
    return tools.map((tool) =>
      isNamed(tool) && tool.asks?.kind !== 'tool' ? { ...tool, asks: alwaysAsks('approval', tool.checkInput) } : tool,
    );
  }

  #modelOf(agent: LoadedAgent): { readonly id: string; readonly model: Model | null } {
    const { agencies } = this.#deps;
    const id = this.#agency === null ? '' : agencies.modelOf(this.#agency, agent, this.#run.model);
    return { id, model: this.#find(agent, id) };
  }

  #find({ ownModels }: LoadedAgent, id: string): Model | null {
    return ownModels.get(id) ?? this.#models(id);
  }

  #fallbackOf(agent: LoadedAgent): readonly Model[] {
    return agent.fallback.flatMap((id) => this.#find(agent, id) ?? []);
  }

  #toolsOf({ tools, builtIn }: LoadedAgent, scope: FilesScope): readonly Tool[] {
    if (builtIn.length === 0) return tools;
    const names: readonly string[] = builtIn;
    const { files, commands } = this.#deps;
    const acting = commands?.tools.open(commands.workspace(this.#run, scope)) ?? [];
    return [...tools, ...[...fileTools(files(this.#run, scope)), ...acting].filter(({ name }) => names.includes(name))];
  }

  async #mcpToolsOf(agent: LoadedAgent): Promise<McpTools> {
    if (agent.mcp.length === 0) return NO_MCP_TOOLS;
    const { reads } = this.#deps.store;
    const about = () =>
      retryWhileUnavailable(this.#deps, this.#stop, () => aboutRun(reads, this.#run, { usesMember: true }));
    const tools = await this.#servers.tools(agent.mcp, ownToolNames(agent), about, this.#stop.signal);
    checkApproval(agent, tools, this.#deps.logger);
    return tools;
  }

  /**
   * The tools of the request. Admission refuses a name that an MCP server has. If the server was not connected then, its
   * tool wins now: a request must not replace a tool of the agency.
   */
  #broughtBeside({ shown }: McpTools): readonly Tool[] {
    const taken = new Set(shown.map(({ name }) => name));
    return clientTools(this.#run.clientTools).filter(({ name }) => {
      if (taken.has(name))
        this.#deps.logger.warn({ tool: name }, 'a tool of the request has the name of an MCP tool and is left out');
      return !taken.has(name);
    });
  }

  /** True if every agent that may answer the user reads PDFs; otherwise their text is sent. */
  takesPdf(): boolean {
    if (this.#agency === null) return false;
    return handOffReach(this.#agency, this.#run.agent).every((agent) =>
      [this.#modelOf(agent).model, ...this.#fallbackOf(agent)].every((one) => one?.takesPdf === true),
    );
  }

  member(): Promise<RunMember | null> {
    this.#member ??= retryWhileUnavailable(this.#deps, this.#stop, () => memberOf(this.#deps.store.reads, this.#run));
    return this.#member;
  }

  async exchanges(sender: string, recipient: string): Promise<readonly Exchange[]> {
    const { chatKey, runId } = this.#run;
    const { reads } = this.#deps.store;
    const rows = await retryWhileUnavailable(this.#deps, this.#stop, () =>
      reads.all(delegationsOfChat, { chatKey, runId, sender, recipient, limit: MAX_EXCHANGES }),
    );
    return rows.reverse().flatMap(({ run_id: ofRun, record_json: recordJson }): Exchange[] => {
      if (this.chain.includes(ofRun)) return [];
      const { asked, output } = stepOutcome(recordJson);
      if (asked === undefined) return [];
      return [{ message: asked.message, answer: output[0]?.text ?? '', answeredAt: output[0]?.timestamp ?? 0 }];
    });
  }

  /** Ends the sessions of this run with MCP servers, and its use of the agency's process. */
  [Symbol.dispose](): void {
    this.#servers.release();
    this.#code?.[Symbol.dispose]();
  }
}

function filesScope({ folder }: LoadedAgency, { filesBelow, skills }: LoadedAgent, about: AboutRun): FilesScope {
  const agency = folder === null ? null : { folder, skills: skills.map(({ name }) => name) };
  return { below: filesBelow?.(about) ?? null, agency };
}
