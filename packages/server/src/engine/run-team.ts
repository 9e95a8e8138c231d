import type { LoadedAgency, LoadedAgent, RunMember } from '../agencies/loaded-agency.ts';
import type { Model, Tool } from '../agent/ports.ts';
import type { Exchange, Team, TeamAgent } from '../agent/team.ts';
import { fileTools } from '../agent/tools/file-tools.ts';
import type { AdmittedRun } from '../domain/admitted-run.ts';
import { RunFailure } from '../domain/run-failure.ts';
import { unlessAborted } from '../lib/unless-aborted.ts';
import { stepOutcome } from '../runs/journal.ts';
import { delegationsOfChat } from '../store/queries/chats.ts';
import { aboutRun, memberOf } from './about-run.ts';
import { agentWindow, handOffReach, reachedWindow } from './agent-windows.ts';
import type { EngineDeps, FindModel } from './deps.ts';
import { fixedParts } from './fixed-parts.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import type { WatchedRun } from './run-watch.ts';
import type { StopHandle } from './stop-handle.ts';

/** How many of its newest exchanges with the sender the recipient of a message sees, besides those of the run. */
const MAX_EXCHANGES = 50;

type TeamDeps = Pick<EngineDeps, 'agencies' | 'models' | 'files' | 'store' | 'retryMs' | 'prompt'>;

/** The agents of a run, each with its model, its tools and the agents that it can reach. */
export class RunTeam implements Team {
  readonly #deps: TeamDeps;
  readonly #models: FindModel;
  readonly #run: AdmittedRun;
  readonly #agency: LoadedAgency | null;
  readonly #watched: WatchedRun;
  readonly #stop: StopHandle;
  readonly #agents = new Map<string, Promise<TeamAgent>>();
  #member: Promise<RunMember | null> | null = null;

  /** `agency` is the version that the run started with; null if it does not exist any more. */
  constructor(deps: TeamDeps, run: AdmittedRun, agency: LoadedAgency | null, watched: WatchedRun, stop: StopHandle) {
    this.#deps = deps;
    this.#models = deps.models();
    this.#run = run;
    this.#agency = agency;
    this.#watched = watched;
    this.#stop = stop;
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
    const written = agent.instructions(about);
    return {
      name,
      // Code of the agency that does not return must not delay the end of the run.
      instructions: typeof written === 'string' ? written : await unlessAborted(this.#stop.signal, written),
      model: this.#watched.guard(model),
      fallback: this.#fallbackOf(agent).map((one) => this.#watched.guard(one)),
      windowTokens: agentWindow(setting, agent),
      reachedWindowTokens: reachedWindow(setting, name),
      tools: this.#toolsOf(agent),
      webSearch: agent.builtIn.includes('web_search'),
      reasoning: agent.reasoning,
      settings: agent.settings,
      output: agent.output,
      ...fixedParts(agency, agent),
    };
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

  #toolsOf({ tools, builtIn }: LoadedAgent): readonly Tool[] {
    if (builtIn.length === 0) return tools;
    const names: readonly string[] = builtIn;
    return [...tools, ...fileTools(this.#deps.files(this.#run)).filter(({ name }) => names.includes(name))];
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
    return rows.reverse().flatMap(({ record_json: recordJson }): Exchange[] => {
      const { asked, output } = stepOutcome(recordJson);
      if (asked === undefined) return [];
      return [{ message: asked.message, answer: output[0]?.text ?? '', answeredAt: output[0]?.timestamp ?? 0 }];
    });
  }
}
