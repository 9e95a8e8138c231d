import { offlineModel } from '../agent/models/offline-model.ts';
import type { OpenAiModels, OpenAiOptions } from '../agent/models/openai-model.ts';
import type { Model } from '../agent/ports.ts';
import type { Config, Limits, Secrets } from '../config/config.ts';

export interface OpenedModels {
  /** Returns null if no provider has this model. */
  readonly find: (id: string) => Model | null;
  /** The model of agencies that name none. */
  readonly defaultId: string;
}

/** Opens the models that the settings name. `replacement` is the scripted model of a test. */
export async function openModels(
  config: Config,
  { openAiKey }: Secrets,
  { modelSilenceMs }: Limits,
  replacement: Model | undefined,
  stack: AsyncDisposableStack,
): Promise<OpenedModels> {
  const known = new Map([offlineModel, ...(replacement ? [replacement] : [])].map((model) => [model.id, model]));
  const openAi =
    config.openAi === null
      ? null
      : stack.use(await openAiModels({ ...config.openAi, apiKey: openAiKey, silenceMs: modelSilenceMs }));
  return {
    find: (id) => known.get(id) ?? openAi?.model(id) ?? null,
    defaultId: replacement?.id ?? config.model,
  };
}

/** Loading the client takes 0.13 s of processor time, so it is loaded only if a provider is set. */
export async function openAiModels(options: OpenAiOptions): Promise<OpenAiModels> {
  const { OpenAiModels } = await import('../agent/models/openai-model.ts');
  return new OpenAiModels(options);
}
