import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgencyDefinition } from '@runwire/agency';
import { StoreUnavailable } from '../domain/unavailable.ts';
import type { Logger } from '../telemetry/logger.ts';
import { flowToolNames } from './agent-tools.ts';
import { AgencyBroken, type AgencyError, agencyError, type Fault, NO_POSITION } from './fault.ts';
import type { KnownModels } from './load-agency.ts';
import { type FolderSetting, loadDefinition, loadFolder } from './load-folder.ts';
import type { LoadedAgency, LoadedAgent } from './loaded-agency.ts';

/** The installation's models. */
export interface UsableModels extends KnownModels {
  /** True if runs can use the model now. It may be of a version of `providers.yaml` before a bad edit. */
  has(model: string): boolean;
}

export interface AgenciesOptions extends Omit<FolderSetting, 'onChanged'> {
  /** Agencies that are part of this process. */
  readonly definitions: Readonly<Record<string, AgencyDefinition>>;
  /** `RUNWIRE_AGENCIES_DIR`; null if it is not set. */
  readonly folder: string | null;
  readonly models: UsableModels;
  readonly logger: Logger;
  /** Returns a sentence if a version of the folder cannot be used with the stored integrations, or null. */
  readonly checkLoaded?: (agencies: Agencies, loaded: LoadedAgency) => Promise<string | null>;
  /** Changes a fault before it is shown, so that a proof can plant a mistake. */
  readonly wrapFault?: ((fault: Fault) => Fault) | undefined;
}

/** An agency that exists, with the last version that could be loaded. */
export interface ListedAgency {
  readonly id: string;
  /** Null if no version could be loaded since the server started. */
  readonly loaded: LoadedAgency | null;
  /** Why the files cannot be loaded as they are now. Null if they can. */
  readonly error: AgencyError | null;
}

/** `/v2/agencies` shows it, so the reason is only in the log. */
const UNREADABLE: readonly Fault[] = [
  { file: '.', ...NO_POSITION, message: "The folder cannot be read; the server's log has the reason." },
];

/** This installation's agencies. */
export class Agencies implements Disposable {
  readonly #options: AgenciesOptions;
  readonly #agencies = new Map<string, ListedAgency>();
  #isDisposed = false;
  /** Called if an edit broke an agency. */
  onBroken: ((id: string, error: AgencyError) => void) | null = null;
  /** Called after files were loaded again. */
  onReloaded: (() => void) | null = null;

  private constructor(options: AgenciesOptions) {
    this.#options = options;
  }

  /** A broken agency in the folder does not stop the start. */
  static async load(options: AgenciesOptions): Promise<Agencies> {
    const agencies = new Agencies(options);
    for (const [id, definition] of Object.entries(options.definitions)) {
      const loaded = await loadDefinition(id, definition, options);
      agencies.#agencies.set(id, { id, loaded, error: null });
    }
    await agencies.reload();
    return agencies;
  }

  /**
   * Loads the folder again, or one agency of it. A version that cannot be loaded leaves the last good one in use. Throws
   * `StoreUnavailable` if a version could not be checked: call it again later.
   */
  async reload(only: string | null = null): Promise<void> {
    const { folder, definitions } = this.#options;
    if (folder === null) return;
    const found = await agencyFolders(folder);
    for (const id of this.#agencies.keys()) {
      if (Object.hasOwn(definitions, id) || found.includes(id)) continue;
      this.#retire(id);
      this.#agencies.delete(id);
    }
    for (const id of found) if (only === null || only === id) await this.#loadFolder(folder, id);
    this.onReloaded?.();
  }

  async #loadFolder(folder: string, id: string): Promise<void> {
    const { definitions, logger, wrapFault } = this.#options;
    const known = Object.hasOwn(definitions, id) ? undefined : this.#agencies.get(id);
    try {
      const onChanged = () => this.#reloadChanged(id);
      const loaded = await loadFolder(join(folder, id), id, { ...this.#options, onChanged });
      try {
        await this.#checkLoaded(loaded);
      } catch (error) {
        loaded.code?.end();
        throw error;
      }
      const isSame = known?.loaded?.version === loaded.version && known.loaded.code?.isEnded !== true;
      if (isSame || this.#isDisposed) loaded.code?.end();
      if (isSame) this.#agencies.set(id, { ...known, error: null });
      else {
        this.#agencies.set(id, { id, loaded, error: null });
        known?.loaded?.code?.retire(() => this.#agencies.get(id)?.loaded?.code ?? null);
        logger.info({ agency: id, version: loaded.version }, 'agency loaded');
      }
    } catch (error) {
      // The files may be right, so the agency stays as it is.
      if (error instanceof StoreUnavailable) throw error;
      // The folder may have been deleted after it was listed.
      if (!(error instanceof AgencyBroken)) logger.error({ err: error, agency: id }, 'agency could not be read');
      const faults = error instanceof AgencyBroken ? error.faults : UNREADABLE;
      const broken = new AgencyBroken(faults.map(wrapFault ?? ((fault) => fault)));
      logger.error({ agency: id, faults: broken.faults }, 'agency is broken');
      if (Object.hasOwn(definitions, id)) return;
      const found = agencyError(broken);
      this.#agencies.set(id, { id, loaded: known?.loaded ?? null, error: found });
      this.onBroken?.(id, found);
    }
  }

  /** The process of an agency found other files when it was started again. */
  #reloadChanged(id: string): void {
    this.reload(id).catch((error: unknown) => {
      this.#options.logger.warn({ err: error, agency: id }, 'an edited agency could not be loaded');
    });
  }

  #retire(id: string): void {
    this.#agencies.get(id)?.loaded?.code?.retire(() => null);
  }

  /** Ends the processes of all agencies. Those of earlier versions have ended with their runs. */
  [Symbol.dispose](): void {
    this.#isDisposed = true;
    for (const { loaded } of this.#agencies.values()) loaded?.code?.end();
  }

  async #checkLoaded(loaded: LoadedAgency): Promise<void> {
    const problem = (await this.#options.checkLoaded?.(this, loaded)) ?? null;
    if (problem !== null) throw new AgencyBroken([{ file: '.', ...NO_POSITION, message: problem }]);
  }

  /** Returns undefined if the agency does not exist. */
  find(id: string): ListedAgency | undefined {
    return this.#agencies.get(id);
  }

  /** Returns null if the agency does not exist, and `broken` if no version of it could be loaded. */
  entryPoints(agency: string): readonly string[] | 'broken' | null {
    const listed = this.#agencies.get(agency);
    if (listed === undefined) return null;
    return listed.loaded?.entryPoints ?? 'broken';
  }

  defaultAgent(agency: string): string | null {
    return this.#agencies.get(agency)?.loaded?.defaultAgent ?? null;
  }

  /** Returns the agent of the version that new runs use. */
  agent(agency: string, name: string): LoadedAgent | null {
    return this.#agencies.get(agency)?.loaded?.agents.get(name) ?? null;
  }

  /** Returns an agent's model. `ofIntegration` is the model that the run's integration sets, or null. */
  getModel(
    agency: Pick<LoadedAgency, 'model'>,
    agent: Pick<LoadedAgent, 'model'>,
    ofIntegration: string | null,
  ): string {
    return agent.model ?? ofIntegration ?? agency.model ?? this.#options.models.defaultId;
  }

  /** Returns why a model cannot be used, or null if it can. */
  modelProblem(id: string): string | null {
    return this.#options.models.problem(id);
  }

  /** True if every model that a run of the agency may need can be used. True if the agency is broken or does not exist. */
  hasModels(agency: string, ofIntegration: string | null): boolean {
    const loaded = this.#agencies.get(agency)?.loaded;
    if (loaded === null || loaded === undefined) return true;
    const { models } = this.#options;
    for (const agent of loaded.agents.values()) {
      const isUsable = (id: string) => agent.ownModels.has(id) || models.has(id);
      if (!isUsable(this.getModel(loaded, agent, ofIntegration)) || !agent.fallback.every(isUsable)) return false;
    }
    const { modelId, ownModel } = loaded.longChats;
    return modelId === null || ownModel !== null || models.has(modelId);
  }

  /** Returns the model of an agent of the version that new runs use, or null if the agent does not exist. */
  entryModel(agency: string, agent: string, ofIntegration: string | null): string | null {
    const loaded = this.#agencies.get(agency)?.loaded;
    const entry = loaded?.agents.get(agent);
    return loaded && entry ? this.getModel(loaded, entry, ofIntegration) : null;
  }

  /** Returns its agents' models, or none if the agency does not exist. */
  models(agency: string, ofIntegration: string | null): readonly string[] {
    const loaded = this.#agencies.get(agency)?.loaded;
    return loaded === null || loaded === undefined ? [] : this.getModels(loaded, ofIntegration);
  }

  getModels(loaded: LoadedAgency, ofIntegration: string | null): readonly string[] {
    const models = [...loaded.agents.values()].flatMap((agent) => [
      this.getModel(loaded, agent, ofIntegration),
      ...agent.fallback,
    ]);
    const { modelId } = loaded.longChats;
    return [...new Set(modelId === null ? models : [...models, modelId])];
  }

  /** Returns the names of the tools and flows of all its agents. */
  allToolNames(agency: string): ReadonlySet<string> {
    const agents = this.#agencies.get(agency)?.loaded?.agents ?? new Map<string, LoadedAgent>();
    return new Set([...agents.values()].flatMap((agent) => [...toolNames(agent), ...flowToolNames(agent.flows)]));
  }

  list(): readonly ListedAgency[] {
    return [...this.#agencies.values()];
  }
}

/** Returns the names of all tools that the agent's model may call, besides those of its flows. */
export function toolNames({ tools, builtIn }: LoadedAgent): readonly string[] {
  return [...tools.map(({ name }) => name), ...builtIn];
}

/** The folders below the folder of agencies, in byte order. */
export async function agencyFolders(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder);
  const found: string[] = [];
  for (const name of names.sort()) {
    if (name.startsWith('.') || name === 'node_modules') continue;
    // Follows symbolic links: an operator may keep agencies elsewhere.
    const stats = await stat(join(folder, name)).catch(() => null);
    if (stats?.isDirectory() === true) found.push(name);
  }
  return found;
}
