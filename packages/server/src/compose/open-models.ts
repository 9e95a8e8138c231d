import { offlineModel } from '../agent/models/offline-model.ts';
import type { ProviderModels, ProviderOptions } from '../agent/models/provider-models.ts';
import type { Model } from '../agent/ports.ts';
import type { Config, Limits, Secrets } from '../config/config.ts';
import { PROVIDERS, providerSettingNames, splitModelId } from '../domain/providers.ts';
import { RunFailure } from '../domain/run-failure.ts';

export interface OpenedModels {
  /** Returns null if no provider has this model. */
  readonly find: (id: string) => Model | null;
  /** Returns a sentence that tells what to do if agencies cannot use the model, or null. */
  readonly problem: (id: string) => string | null;
  /** The model of agencies that name none. */
  readonly defaultId: string;
}

/** Opens the models that the settings name. `replacement` is the scripted model of a test. */
export async function openModels(
  config: Config,
  { providerKeys }: Secrets,
  { modelSilenceMs }: Limits,
  replacement: Model | undefined,
  stack: AsyncDisposableStack,
): Promise<OpenedModels> {
  const known = new Map([offlineModel, ...(replacement ? [replacement] : [])].map((model) => [model.id, model]));
  const loaded = new Map<string, ProviderModels>();
  const unset = new Map<string, () => Promise<ProviderModels>>();
  for (const { name, api, baseUrl, isSet } of config.providers) {
    const options = { name, api, baseUrl, apiKey: providerKeys.get(name) ?? null, silenceMs: modelSilenceMs };
    if (isSet || config.model.startsWith(`${name}/`)) loaded.set(name, stack.use(await providerModels(options)));
    else unset.set(name, loadOnce(options, stack));
  }
  const findAt = (provider: string, id: string): Model | null => {
    const load = unset.get(provider);
    return loaded.get(provider)?.model(id) ?? (load === undefined ? null : lazyModel(id, load));
  };
  const find = (id: string) => known.get(id) ?? findAt(splitModelId(id)?.provider ?? '', id);
  return {
    find,
    problem: (id) => (find(id) === null ? modelProblem(id) : null),
    defaultId: replacement?.id ?? config.model,
  };
}

/** The same without a server: only the settings are known. */
export function modelProblemOf({ providers }: Pick<Config, 'providers'>, id: string): string | null {
  const provider = splitModelId(id)?.provider;
  return id === offlineModel.id || providers.some(({ name }) => name === provider) ? null : modelProblem(id);
}

function modelProblem(id: string): string {
  const provider = splitModelId(id)?.provider ?? id;
  const names = [...PROVIDERS.keys()];
  if (!names.includes(provider))
    return `This version has no provider \`${provider}\`; write a model of ${names.join(', ')}.`;
  return `\`${id}\` needs a key; set ${providerSettingNames(provider).key}, and start the server again.`;
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
