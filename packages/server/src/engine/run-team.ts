import type { LoadedAgent } from '../agencies/agencies.ts';
import type { Exchange, Team, TeamAgent } from '../agent/team.ts';
import { fileTools } from '../agent/tools/file-tools.ts';
import type { AdmittedRun } from '../domain/admitted-run.ts';
import { modelWindow } from '../domain/model-window.ts';
import { RunFailure } from '../domain/run-failure.ts';
import { stepOutcome } from '../runs/journal.ts';
import { delegationsOfChat } from '../store/queries/chats.ts';
import type { EngineDeps } from './deps.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import type { WatchedRun } from './run-watch.ts';
import type { StopHandle } from './stop-handle.ts';

/** How many of the newest exchanges of a chat the recipient of a message sees. */
const MAX_EXCHANGES = 50;

type TeamDeps = Pick<EngineDeps, 'agencies' | 'model' | 'files' | 'store' | 'retryMs' | 'prompt'>;

/** The agents of a run, each with its model, its tools and the agents that it can reach. */
export class RunTeam implements Team {
  readonly #deps: TeamDeps;
  readonly #run: AdmittedRun;
  readonly #watched: WatchedRun;
  readonly #stop: StopHandle;
  readonly #agents = new Map<string, TeamAgent>();

  constructor(deps: TeamDeps, run: AdmittedRun, watched: WatchedRun, stop: StopHandle) {
    this.#deps = deps;
    this.#run = run;
    this.#watched = watched;
    this.#stop = stop;
  }

  async agent(name: string): Promise<TeamAgent> {
    let agent = this.#agents.get(name);
    if (agent === undefined) {
      agent = this.#prepare(name);
      this.#agents.set(name, agent);
    }
    return agent;
  }

  #prepare(name: string): TeamAgent {
    const { agencies, model: models, files } = this.#deps;
    const { agency, integrationId } = this.#run;
    const loaded = agencies.agent(agency, name);
    const model = loaded === null ? null : models(loaded.model);
    if (loaded === null || model === null) {
      const missing = loaded === null ? `agent \`${name}\`` : `model \`${loaded.model}\``;
      throw new RunFailure('internal_error', `The ${missing} does not exist.`);
    }
    const { definition } = loaded;
    return {
      name,
      instructions: definition.instructions,
      model: this.#watched.guard(model),
      windowTokens: modelWindow(model.id, this.#deps.prompt.windowTokens),
      tools: loaded.files ? [...loaded.tools, ...fileTools(files(integrationId))] : loaded.tools,
      reasoning: definition.reasoning,
      flows: loaded.flows.map((flow) => ({ ...flow, description: this.#description(flow.to) })),
    };
  }

  #description(name: string): string {
    return this.#deps.agencies.agent(this.#run.agency, name)?.definition.description ?? '';
  }

  /** True if every agent that may answer the user reads PDFs; otherwise their text is sent. */
  takesPdf(): boolean {
    const { agencies, model: models } = this.#deps;
    const { agency } = this.#run;
    const seen = new Set<string>();
    const takes = (name: string): boolean => {
      if (seen.has(name)) return true;
      seen.add(name);
      const loaded: LoadedAgent | null = agencies.agent(agency, name);
      if (loaded === null || models(loaded.model)?.takesPdf !== true) return false;
      return loaded.flows.every(({ kind, to }) => kind === 'delegate' || takes(to));
    };
    return takes(this.#run.agent);
  }

  async exchanges(sender: string, recipient: string): Promise<readonly Exchange[]> {
    const { chatKey, runId } = this.#run;
    const { reads } = this.#deps.store;
    const rows = await retryWhileUnavailable(this.#deps, this.#stop, () =>
      reads.all(delegationsOfChat, { chatKey, runId, sender, limit: MAX_EXCHANGES }),
    );
    return rows.reverse().flatMap(({ record_json: recordJson }): Exchange[] => {
      const { asked, output } = stepOutcome(recordJson);
      return asked?.agent === recipient ? [{ message: asked.message, answer: output[0]?.text ?? '' }] : [];
    });
  }
}
