import { linearCheck } from '@runwire/lib/linear-check.ts';
import { unlessAborted } from '@runwire/lib/unless-aborted.ts';
import type { AboutRun, LoadedAgency, LoadedAgent, RunMember } from '../agencies/loaded-agency.ts';
import type { AskedAgent } from '../agent/ask-in-time.ts';
import { AgentConditions } from '../agent/conditions.ts';
import { AgentGuardrails } from '../agent/guardrails.ts';
import { type McpTools, NO_MCP_TOOLS, type RunServers } from '../agent/mcp-port.ts';
import type { Model, ModelTool, Tool } from '../agent/ports.ts';
import type { RunState } from '../agent/run-state.ts';
import type { Exchange, OutputSchema, Team, TeamAgent } from '../agent/team.ts';
import { fileTools } from '../agent/tools/file-tools.ts';
import { stateObject } from '../domain/chat/chat-state.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import { getBeginningAgent } from '../domain/run/beginning-agent.ts';
import { RunFailure } from '../domain/run/run-failure.ts';
import { rememberedTools } from '../store/queries/asked-questions.ts';
import { END_OF_CHAT } from '../store/queries/chats.ts';
import type { Logger } from '../telemetry/logger.ts';
import { aboutMember, getMember, NO_STATE } from './about-run.ts';
import { withApprovalLists } from './approval-lists.ts';
import { checkApproval } from './check-approval.ts';
import { clientTools } from './client-tools.ts';
import type { EngineDeps, FilesScope } from './deps.ts';
import type { PreparedAgency, PreparedAgent } from './prepared-agency.ts';
import { readExchanges } from './read-exchanges.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import type { WatchedRun } from './run-watch.ts';
import type { StopHandle } from './stop-handle.ts';

type TeamDeps = Pick<EngineDeps, 'files' | 'store' | 'retryMs' | 'mcp' | 'commands'>;

/** The run whose agents these are. */
interface TeamRun {
  readonly run: AdmittedRun;
  /** The version that the run started with; null if it does not exist any more. */
  readonly prepared: PreparedAgency | null;
  readonly watched: WatchedRun;
  readonly stop: StopHandle;
  readonly logger: Logger;
}

/** A run's agents, each with its model, its tools and the agents that it can reach. */
export class RunTeam implements Team, Disposable {
  readonly #deps: TeamDeps;
  readonly #of: TeamRun;
  readonly #state: Pick<RunState, 'atStart' | 'now'>;
  /** Null until an agent with MCP servers is used. */
  #servers: RunServers | null = null;
  readonly #code: Disposable | null;
  readonly #agents = new Map<string, Promise<TeamAgent>>();
  #member: Promise<RunMember | null> | null = null;
  /** The runs that this one continues. Their exchanges count as its own. */
  chain: readonly string[] = [];

  constructor(deps: TeamDeps, of: TeamRun, state: Pick<RunState, 'atStart' | 'now'>) {
    this.#deps = deps;
    this.#of = of;
    this.#state = state;
    this.#code = of.prepared?.agency.code?.use() ?? null;
  }

  get #rootName(): string {
    return getBeginningAgent(this.#of.run, this.#of.prepared?.agency.agents);
  }

  has(name: string): boolean {
    return this.#of.prepared?.agency.agents.has(name) === true;
  }

  agent(name: string): Promise<TeamAgent> {
    let agent = this.#agents.get(name);
    if (agent === undefined) {
      agent = this.#prepare(name);
      this.#agents.set(name, agent);
    }
    return agent;
  }

  /** The agent that begins the run. Only there its answer has the schema that the request brings. */
  root(): Promise<TeamAgent> {
    const { extras } = this.#of.run;
    if (extras.outputSchema === null) return this.agent(this.#rootName);
    return this.#prepare(this.#rootName, { jsonSchema: extras.outputSchema, check: linearCheck(extras.outputSchema) });
  }

  async #prepare(name: string, output: OutputSchema | null = null): Promise<TeamAgent> {
    const { prepared: all, run, watched, stop } = this.#of;
    const prepared = all?.agent(name) ?? null;
    if (all === null || prepared === null)
      throw new RunFailure('internal_error', `The agent \`${name}\` does not exist.`);
    const { agent, model, modelId } = prepared;
    if (model === null) throw new RunFailure('internal_error', `The model \`${modelId}\` does not exist.`);
    const member = agent.usesMember ? await this.member() : null;
    const state = agent.usesState !== null ? stateObject(await this.#state.atStart()) : NO_STATE;
    const about = aboutMember(run, member, state);
    const replaced = name === this.#rootName ? (run.extras.rerun?.instructions ?? null) : null;
    const instructions = replaced ?? this.#write(all.agency, agent, about);
    const mcp = agent.mcp.length === 0 ? NO_MCP_TOOLS : await this.#getMcpTools(prepared);
    // Tools of the request belong to the agents that speak with the caller.
    const speaks = run.clientTools.length > 0 && all.reach(this.#rootName).includes(agent);
    const clientTools = speaks ? this.#clientToolsBeside(mcp) : NO_TOOLS;
    const modelTools = prepared.modelTools(mcp.shown);
    return new RunAgent(prepared, {
      // Code of the agency that does not return must not delay the run's end.
      instructions: typeof instructions === 'string' ? instructions : await unlessAborted(stop.signal, instructions),
      model: watched.guard(model),
      fallback: prepared.fallback.map((one) => watched.guard(one)),
      modelTools: clientTools.length === 0 ? modelTools : [...modelTools, ...clientTools],
      failedServers: mcp.failed,
      output: output ?? agent.output,
      guardrails: this.#openGuardrails(all.agency, agent),
      conditions: this.#openConditions(all.agency, prepared),
      makeTools: () => {
        const own = this.#getTools(agent, () => filesScope(all.agency, agent, about));
        return withApprovalLists(agent, [...own, ...mcp.tools, ...clientTools]);
      },
    });
  }

  #openGuardrails({ id: agency }: LoadedAgency, { name: agent, guardrails }: LoadedAgent): AgentGuardrails | null {
    if (guardrails === null) return null;
    const { logger } = this.#of;
    return new AgentGuardrails(guardrails, {
      ...this.#about(agency, agent),
      onFailure: (guardrail, error) =>
        logger.error({ err: error, agency, agent, guardrail }, 'a function of an agency failed: check of a guardrail'),
    });
  }

  #openConditions(
    { id: agency }: LoadedAgency,
    { agent: { name }, conditions }: PreparedAgent,
  ): AgentConditions | null {
    if (conditions === null) return null;
    const { logger } = this.#of;
    return new AgentConditions(conditions, {
      ...this.#about(agency, name),
      state: () => this.#state.now(),
      onFailure: (part, error) =>
        logger.error({ err: error, agency, agent: name, part }, 'a function of an agency failed: isEnabled'),
    });
  }

  /** What functions of the agency are asked about. */
  #about(agency: string, agent: string): AskedAgent {
    const { run, stop } = this.#of;
    return { agency, agent, userContext: run.userContext, member: () => this.member(), signal: stop.signal };
  }

  /** Rejects with a `RunFailure` if the function of the agency fails. */
  #write({ id }: LoadedAgency, agent: LoadedAgent, about: AboutRun): string | Promise<string> {
    const written = agent.instructions(about);
    if (typeof written === 'string') return written;
    const checked = written.catch((error: unknown) => {
      const { name } = agent;
      this.#of.logger.error({ err: error, agency: id, agent: name }, 'a function of an agency failed: instructions');
      const failed = `The function \`instructions\` of the agent \`${name}\` of the agency \`${id}\` failed`;
      throw new RunFailure('agency_error', `${failed}; the log of the server has the reason.`, { cause: error });
    });
    // It is awaited after the tools of MCP servers are known, and may fail before.
    checked.catch(() => {});
    return checked;
  }

  #getTools({ tools, builtIn }: LoadedAgent, getScope: () => FilesScope): readonly Tool[] {
    if (builtIn.length === 0) return tools;
    const names: readonly string[] = builtIn;
    const { files, commands } = this.#deps;
    const { run } = this.#of;
    const scope = getScope();
    const acting = commands?.tools.open(commands.workspace(run, scope)) ?? [];
    return [...tools, ...[...fileTools(files(run, scope)), ...acting].filter(({ name }) => names.includes(name))];
  }

  async #getMcpTools({ agent, ownToolNames }: PreparedAgent): Promise<McpTools> {
    const { run, stop, logger } = this.#of;
    const about = async () => aboutMember(run, await this.member());
    this.#servers ??= this.#deps.mcp(run.agency);
    const tools = await this.#servers.tools(agent.mcp, ownToolNames, about, stop.signal);
    checkApproval(agent, tools, logger);
    return tools;
  }

  /**
   * The request's tools. Admission refuses a name that an MCP server has. If the server was not connected then, its
   * tool wins now: a request must not replace a tool of the agency.
   */
  #clientToolsBeside({ shown }: McpTools): readonly Tool[] {
    const taken = new Set(shown.map(({ name }) => name));
    return clientTools(this.#of.run.clientTools).filter(({ name }) => {
      if (taken.has(name))
        this.#of.logger.warn({ tool: name }, 'a tool of the request has the name of an MCP tool and is left out');
      return !taken.has(name);
    });
  }

  member(): Promise<RunMember | null> {
    const { run, stop } = this.#of;
    this.#member ??= retryWhileUnavailable(this.#deps, stop, () => getMember(this.#deps.store.reads, run));
    return this.#member;
  }

  async exchanges(sender: string, recipient: string): Promise<readonly Exchange[]> {
    const { chatKey, runId } = this.#of.run;
    const { reads } = this.#deps.store;
    return retryWhileUnavailable(this.#deps, this.#of.stop, () =>
      readExchanges(reads, { chatKey, runId, sender, recipient, before: END_OF_CHAT }, this.chain),
    );
  }

  async rememberedTools(): Promise<ReadonlySet<string>> {
    const { chatKey } = this.#of.run;
    const read = () => this.#deps.store.reads.all(rememberedTools, { chatKey });
    const rows = await retryWhileUnavailable(this.#deps, this.#of.stop, read);
    return new Set(rows.map((row) => row.remembered_tool));
  }

  /** Ends this run's sessions with MCP servers, and its use of the agency's process. */
  [Symbol.dispose](): void {
    this.#servers?.release();
    this.#code?.[Symbol.dispose]();
  }
}

const NO_TOOLS: readonly Tool[] = [];

/** What an agent has in one run only. */
interface RunParts {
  readonly instructions: string;
  readonly model: Model;
  readonly fallback: readonly Model[];
  readonly modelTools: readonly ModelTool[];
  readonly failedServers: McpTools['failed'];
  readonly output: OutputSchema | null;
  readonly guardrails: AgentGuardrails | null;
  readonly conditions: AgentConditions | null;
  readonly makeTools: () => readonly Tool[];
}

/** An agent in one run. Its tools are made if its model calls one. */
class RunAgent implements TeamAgent {
  readonly name: string;
  readonly instructions: string;
  readonly model: Model;
  readonly fallback: readonly Model[];
  readonly windowTokens: number;
  readonly reachedWindowTokens: number;
  readonly modelTools: readonly ModelTool[];
  readonly handOffs: ReadonlySet<string>;
  readonly webSearch: boolean;
  readonly reasoning: LoadedAgent['reasoning'];
  readonly settings: LoadedAgent['settings'];
  readonly output: OutputSchema | null;
  readonly guardrails: AgentGuardrails | null;
  readonly conditions: AgentConditions | null;
  readonly flows: TeamAgent['flows'];
  readonly failedServers: McpTools['failed'];
  readonly #makeTools: () => readonly Tool[];
  #tools: readonly Tool[] | null = null;

  constructor(prepared: PreparedAgent, parts: RunParts) {
    const { agent } = prepared;
    this.name = agent.name;
    this.instructions = parts.instructions;
    this.model = parts.model;
    this.fallback = parts.fallback;
    this.windowTokens = prepared.windowTokens;
    this.reachedWindowTokens = prepared.reachedWindowTokens;
    this.modelTools = parts.modelTools;
    this.handOffs = prepared.handOffs;
    this.webSearch = prepared.webSearch;
    this.reasoning = agent.reasoning;
    this.settings = agent.settings;
    this.output = parts.output;
    this.guardrails = parts.guardrails;
    this.conditions = parts.conditions;
    this.flows = prepared.flows;
    this.failedServers = parts.failedServers;
    this.#makeTools = parts.makeTools;
  }

  get tools(): readonly Tool[] {
    this.#tools ??= this.#makeTools();
    return this.#tools;
  }
}

function filesScope({ folder }: LoadedAgency, { filesBelow, skills }: LoadedAgent, about: AboutRun): FilesScope {
  const agency = folder === null ? null : { folder, skills: skills.map(({ name }) => name) };
  return { below: filesBelow?.(about) ?? null, agency };
}
