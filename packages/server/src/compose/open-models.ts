import { chosenApi, splitModelId } from '@runwire/models';
import { aiSdkModel, aiSdkProvider, isAiSdkModel, ProviderRefused } from '@runwire/models/ai-sdk';
import { offlineModel } from '@runwire/models/offline-model';
import type { ProviderModels, ProviderOptions } from '@runwire/models/provider-models';
import type { Fault } from '../agencies/fault.ts';
import { isInstalled, loadPackage, PackageRefused } from '../agencies/load-package.ts';
import type { AgencyProcesses } from '../agencies/process/agency-processes.ts';
import { NO_PROVIDERS, type ReadProviders, readProviders } from '../agencies/read-providers.ts';
import type { Model } from '../agent/ports.ts';
import type { Config, Secrets } from '../config/config.ts';
import type { Limits } from '../config/limits.ts';
import { RunFailure } from '../domain/run/run-failure.ts';
import { StartRefused } from '../domain/start-refused.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import {
  locate,
  modelProblem,
  type PackageProvider,
  type ProtocolProvider,
  type ProviderTable,
  providerTable,
  type UsableProvider,
} from './provider-table.ts';

/** Returns null if no provider has this model. */
export type FindModel = (id: string) => Model | null;

export interface ModelsOptions {
  readonly limits: Limits;
  /** Try the packages of providers. */
  readonly processes: AgencyProcesses;
  /** A test's scripted model. */
  readonly replacement?: Model | undefined;
  readonly logger?: Logger;
}

/** The models of all providers that the settings and `providers.yaml` name. */
export class OpenedModels implements AsyncDisposable {
  readonly #config: Config;
  readonly #secrets: Secrets;
  readonly #options: ModelsOptions;
  readonly #logger: Logger;
  readonly #stack = new AsyncDisposableStack();
  readonly #known: ReadonlyMap<string, Model>;
  /** By the provider's name: those of the last file that could be used. */
  #opened: ReadonlyMap<string, OpenedProvider> = new Map();
  #table: ProviderTable;
  #find: FindModel = () => null;
  /** The model of agencies that name none. */
  readonly defaultId: string;

  constructor(config: Config, secrets: Secrets, options: ModelsOptions) {
    const { replacement } = options;
    this.#config = config;
    this.#secrets = secrets;
    this.#options = options;
    this.#logger = options.logger ?? createLogger(config.logLevel);
    this.#known = new Map([offlineModel, ...(replacement ? [replacement] : [])].map((model) => [model.id, model]));
    this.#table = this.#toTable(NO_PROVIDERS);
    this.defaultId = replacement?.id ?? config.model;
  }

  /** Finds the providers' models as they are now. A run keeps the function that it started with. */
  get find(): FindModel {
    return this.#find;
  }

  /** True if runs can use the model now. */
  has(id: string): boolean {
    return this.#find(id) !== null;
  }

  /** Returns a sentence about what to do if agencies cannot use the model with the current files, or null if they can. */
  problem(id: string): string | null {
    if (this.#known.has(id)) return null;
    const problem = modelProblem(this.#table, id);
    if (problem !== null) return problem;
    try {
      this.#opened.get(splitModelId(id)?.provider ?? '')?.find(id);
      return null;
    } catch (error) {
      if (error instanceof ProviderRefused || error instanceof PackageRefused) return error.message;
      throw error;
    }
  }

  /** Also true if no provider has the model: `problem` reports that model. */
  searchesWeb(id: string): boolean {
    const model = this.#find(id);
    return model === null || model.searchesWeb === true;
  }

  fromObject(name: string, object: unknown): Model | null {
    return isAiSdkModel(object) ? aiSdkModel(name, object, this.#options.limits.modelSilenceMs) : null;
  }

  /**
   * The model through the other protocol of OpenAI, with how to choose it. Null if its provider has another protocol, or
   * none that can be chosen.
   */
  async withOtherProtocol(id: string): Promise<{ readonly model: Model; readonly setting: string } | null> {
    const provider = this.#opened.get(splitModelId(id)?.provider ?? '')?.provider;
    if (provider === undefined || 'package' in provider) return null;
    if (provider.api === 'messages' || provider.settings.api === null) return null;
    const api = provider.api === 'chat' ? 'responses' : 'chat';
    const silenceMs = this.#options.limits.modelSilenceMs;
    const model = this.#stack.use(await providerModels({ ...provider, api, silenceMs })).model(id);
    return model === null ? null : { model, setting: chosenApi(provider.settings.api, api) };
  }

  /** The faults of `providers.yaml`. */
  get faults(): readonly Fault[] {
    return this.#table.file.faults;
  }

  /** Names the place of the model's provider, for people. Null if it has none. */
  locate(id: string): string | null {
    const opened = this.#opened.get(splitModelId(id)?.provider ?? '');
    return opened === undefined ? null : locate(opened.provider);
  }

  /**
   * Reads `providers.yaml`. A provider with a fault keeps the version that was used before, if there is one. Clients of
   * earlier versions stay open until the server stops, because runs use them.
   */
  async load(): Promise<void> {
    const { agenciesDir } = this.#config;
    const file = agenciesDir === null ? NO_PROVIDERS : await readProviders(agenciesDir, this.#secrets.variable);
    if (file.faults.length > 0) this.#logger.error({ faults: file.faults }, 'providers.yaml is broken');
    const table = this.#toTable(file);
    const opened = new Map(file.unreadable === null ? [] : this.#opened);
    for (const name of file.broken.keys()) {
      const before = this.#opened.get(name);
      if (before !== undefined) opened.set(name, before);
    }
    for (const provider of table.usable.values()) opened.set(provider.name, await this.#open(provider));
    this.#table = table;
    this.#opened = opened;
    this.#find = (id) => this.#known.get(id) ?? foundIn(opened, id);
  }

  #toTable(file: ReadProviders): ProviderTable {
    const { agenciesDir: folder, providers } = this.#config;
    const { providerKeys, variable } = this.#secrets;
    const isFound = (name: string) => folder !== null && isInstalled(folder, name);
    return providerTable({ providers, providerKeys, variable, file, isInstalled: isFound });
  }

  /** Refuses a default model that no provider has. A fault of `providers.yaml` only breaks the agencies that need it. */
  checkDefault(): void {
    const problem = this.problem(this.defaultId);
    if (problem === null || this.#table.file.faults.length > 0) return;
    throw new StartRefused(`RUNWIRE_MODEL is \`${this.defaultId}\`, which cannot be used: ${problem}`);
  }

  async #open(provider: UsableProvider): Promise<OpenedProvider> {
    const version = JSON.stringify([provider, [...provider.models]]);
    const before = this.#opened.get(provider.name);
    if (before?.version === version) return before;
    const find = await ('package' in provider ? this.#openPackage(provider) : this.#openProtocol(provider));
    return { provider, version, find };
  }

  async #openProtocol(provider: ProtocolProvider): Promise<FindModel> {
    const { name, isSet } = provider;
    const options = { ...provider, silenceMs: this.#options.limits.modelSilenceMs };
    if (isSet || this.#config.model.startsWith(`${name}/`)) {
      const loaded = this.#stack.use(await providerModels(options));
      return (id) => loaded.model(id);
    }
    const load = loadOnce(options, this.#stack);
    return (id) => lazyModel(id, load);
  }

  /** A package that cannot be used refuses every model with the same sentence. */
  async #openPackage(provider: PackageProvider): Promise<FindModel> {
    try {
      const exports = await loadPackage(this.#options.processes, this.#config.agenciesDir ?? '', provider.package);
      return aiSdkProvider(exports, { ...provider, silenceMs: this.#options.limits.modelSilenceMs });
    } catch (error) {
      if (!(error instanceof PackageRefused || error instanceof ProviderRefused)) throw error;
      this.#logger.error({ provider: provider.name, reason: error.message }, 'a provider package cannot be used');
      return () => {
        throw error;
      };
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

interface OpenedProvider {
  readonly provider: UsableProvider;
  /** Another version needs another client. */
  readonly version: string;
  /** Throws `ProviderRefused` or `PackageRefused` if the provider's package cannot be used. */
  readonly find: FindModel;
}

function foundIn(opened: ReadonlyMap<string, OpenedProvider>, id: string): Model | null {
  try {
    return opened.get(splitModelId(id)?.provider ?? '')?.find(id) ?? null;
  } catch (error) {
    if (error instanceof ProviderRefused || error instanceof PackageRefused) return null;
    throw error;
  }
}

/** Opens the models that the settings name. Throws `StartRefused` if the default model cannot be used. */
export async function openModels(
  config: Config,
  secrets: Secrets,
  options: ModelsOptions,
  stack: AsyncDisposableStack,
): Promise<OpenedModels> {
  const models = stack.use(new OpenedModels(config, secrets, options));
  await models.load();
  models.checkDefault();
  return models;
}

/** A provider that needs no settings is loaded when an agency's model is first called. */
function lazyModel(id: string, load: () => Promise<ProviderModels>): Model {
  return {
    id,
    watchesSilence: true,
    async call(request, output, signal) {
      const model = (await load()).model(id);
      if (model === null) throw new RunFailure('model_error', `The model \`${id}\` does not exist.`);
      return model.call(request, output, signal);
    },
  };
}

function loadOnce(options: ProviderOptions, stack: AsyncDisposableStack): () => Promise<ProviderModels> {
  let loading: Promise<ProviderModels> | null = null;
  stack.defer(async () => (await loading)?.[Symbol.asyncDispose]());
  return () => {
    loading ??= providerModels(options);
    return loading;
  };
}

/** Loading the client takes 0.13 s of processor time, so it is loaded only if a provider is set. */
export async function providerModels(options: ProviderOptions): Promise<ProviderModels> {
  const { ProviderModels } = await import('@runwire/models/provider-models');
  return new ProviderModels(options);
}
