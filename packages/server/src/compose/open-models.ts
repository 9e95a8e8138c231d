import { offlineModel } from '../agent/models/offline-model.ts';
import type { OpenAiModels, OpenAiOptions } from '../agent/models/openai-model.ts';
import type { Model } from '../agent/ports.ts';
import type { Config, Limits, Secrets } from '../config/config.ts';

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
  const find = (id: string) => known.get(id) ?? openAi?.model(id) ?? null;
  return {
    find,
    problem: (id) => (find(id) === null ? modelProblem(id) : null),
    defaultId: replacement?.id ?? config.model,
  };
}

/** The same without a server: only the settings are known. */
export function modelProblemOf({ openAi }: Pick<Config, 'openAi'>, id: string): string | null {
  return id === offlineModel.id || (openAi !== null && id.startsWith('openai/')) ? null : modelProblem(id);
}

function modelProblem(id: string): string {
  const [provider] = id.split('/');
  if (provider === 'openai') return `\`${id}\` needs a key; set OPENAI_API_KEY, and start the server again.`;
  return `This version has no provider \`${provider}\`; write a model of \`openai\`.`;
}

/** Loading the client takes 0.13 s of processor time, so it is loaded only if a provider is set. */
export async function openAiModels(options: OpenAiOptions): Promise<OpenAiModels> {
  const { OpenAiModels } = await import('../agent/models/openai-model.ts');
  return new OpenAiModels(options);
}
