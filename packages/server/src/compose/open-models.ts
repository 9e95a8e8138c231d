import { NO_PROVIDERS, readProviders } from '../agencies/read-providers.ts';
import { offlineModel } from '../agent/models/offline-model.ts';
import type { ProviderModels, ProviderOptions } from '../agent/models/provider-models.ts';
import type { Model } from '../agent/ports.ts';
import type { Config, Limits, Secrets } from '../config/config.ts';
import { splitModelId } from '../domain/providers.ts';
import { RunFailure } from '../domain/run-failure.ts';
import { StartRefused } from '../domain/start-refused.ts';
import { createLogger, type Logger } from '../telemetry/logger.ts';
import { modelProblem, type ProviderTable, providerTable, type UsableProvider } from './provider-table.ts';

/** Returns null if no provider has this model. */
export type FindModel = (id: string) => Model | null;

export interface ModelsOptions {
  readonly limits: Limits;
  /** The scripted model of a test. */
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
  /** By the name of the provider: those of the last file that could be used. */
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
    this.#table = providerTable({ ...config, ...secrets }, NO_PROVIDERS);
    this.defaultId = replacement?.id ?? config.model;
  }

  /** Finds models of the providers as they are now. A run keeps the function that it started with. */
  get find(): FindModel {
    return this.#find;
  }

  /** True if runs can use the model now. */
  has(id: string): boolean {
    return this.#find(id) !== null;
  }

  /** Returns a sentence that tells what to do if agencies cannot use the model with the current files, or null. */
  problem(id: string): string | null {
    return this.#known.has(id) ? null : modelProblem(this.#table, id);
  }

  /** Where the models of a provider come from, for people. Null if there is none. */
  placeOf(id: string): Pick<UsableProvider, 'api' | 'baseUrl'> | null {
    return this.#opened.get(splitModelId(id)?.provider ?? '')?.provider ?? null;
  }

  /**
   * Reads `providers.yaml`. A provider with a fault keeps the version that was used before, if there is one. Clients of
   * earlier versions stay open until the server stops, because runs use them.
   */
  async load(): Promise<void> {
    const { agenciesDir } = this.#config;
    const file = agenciesDir === null ? NO_PROVIDERS : await readProviders(agenciesDir, this.#secrets.variable);
    if (file.faults.length > 0) this.#logger.error({ faults: file.faults }, 'providers.yaml is broken');
    const table = providerTable({ ...this.#config, ...this.#secrets }, file);
    const opened = new Map(file.unreadable === null ? [] : this.#opened);
    for (const name of file.broken.keys()) {
      const before = this.#opened.get(name);
      if (before !== undefined) opened.set(name, before);
    }
    for (const provider of table.usable.values()) opened.set(provider.name, await this.#open(provider));
    this.#table = table;
    this.#opened = opened;
    this.#find = (id) => this.#known.get(id) ?? opened.get(splitModelId(id)?.provider ?? '')?.find(id) ?? null;
  }

  /** Refuses a default model that no provider has. A fault of `providers.yaml` only breaks the agencies that need it. */
  checkDefault(): void {
    const problem = this.problem(this.defaultId);
    if (problem === null || this.#table.file.faults.length > 0) return;
    throw new StartRefused(`RUNWIRE_MODEL is \`${this.defaultId}\`, which cannot be used: ${problem}`);
  }

  async #open(provider: UsableProvider): Promise<OpenedProvider> {
    const { name, models, isSet } = provider;
    const version = JSON.stringify([provider, [...models]]);
    const before = this.#opened.get(name);
    if (before?.version === version) return before;
    const options = { ...provider, silenceMs: this.#options.limits.modelSilenceMs };
    if (isSet || this.#config.model.startsWith(`${name}/`)) {
      const loaded = this.#stack.use(await providerModels(options));
      return { provider, version, find: (id) => loaded.model(id) };
    }
    const load = loadOnce(options, this.#stack);
    return { provider, version, find: (id) => lazyModel(id, load) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

interface OpenedProvider {
  readonly provider: UsableProvider;
  /** Another version needs another client. */
  readonly version: string;
  readonly find: FindModel;
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
  const { ProviderModels } = await import('../agent/models/provider-models.ts');
  return new ProviderModels(options);
}
