/** The protocols of model providers. */
export type ProviderApi = 'responses' | 'chat' | 'messages';

/** What is declared about a model. Absent values are those of its protocol. */
export interface ModelTraits {
  /** One request's tokens, prompt and answer together. */
  readonly window?: number;
  /** The largest number of tokens of one answer. */
  readonly maxOutputTokens?: number;
  readonly images?: boolean;
  readonly pdf?: boolean;
  /** False if the provider cannot hold the model to a JSON Schema. */
  readonly output?: boolean;
}

interface KnownProvider {
  readonly api: ProviderApi;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** False if the provider's own address needs no key. */
  readonly needsKey: boolean;
}

/** The built-in model and its provider. */
export const OFFLINE_PROVIDER = 'offline';
export const OFFLINE_MODEL = `${OFFLINE_PROVIDER}/demo`;

/** The providers that a model's id can name without further settings than a key. */
export const PROVIDERS: ReadonlyMap<string, KnownProvider> = new Map([
  ['openai', { api: 'responses', baseUrl: 'https://api.openai.com/v1', needsKey: true }],
  ['anthropic', { api: 'messages', baseUrl: 'https://api.anthropic.com', needsKey: true }],
  ['openrouter', chat('https://openrouter.ai/api/v1')],
  ['groq', chat('https://api.groq.com/openai/v1')],
  ['mistral', chat('https://api.mistral.ai/v1')],
  ['deepseek', chat('https://api.deepseek.com/v1')],
  ['xai', chat('https://api.x.ai/v1')],
  ['together', chat('https://api.together.xyz/v1')],
  ['ollama', { ...chat('http://127.0.0.1:11434/v1'), needsKey: false }],
]);

function chat(baseUrl: string): KnownProvider {
  return { api: 'chat', baseUrl, needsKey: true };
}

interface KnownPackage {
  readonly package: string;
  /** The variable with the key. Null if the package has several ways to sign in. */
  readonly key: string | null;
}

/** The providers of the AI SDK that a model's id can name if their package is installed beside the agencies. */
export const PACKAGES: ReadonlyMap<string, KnownPackage> = new Map([
  ['google', { package: '@ai-sdk/google', key: 'GOOGLE_GENERATIVE_AI_API_KEY' }],
  ['google-vertex', { package: '@ai-sdk/google-vertex', key: null }],
  ['azure', { package: '@ai-sdk/azure', key: null }],
  ['amazon-bedrock', { package: '@ai-sdk/amazon-bedrock', key: null }],
  ['cohere', { package: '@ai-sdk/cohere', key: 'COHERE_API_KEY' }],
  ['perplexity', { package: '@ai-sdk/perplexity', key: 'PERPLEXITY_API_KEY' }],
  ['cerebras', { package: '@ai-sdk/cerebras', key: 'CEREBRAS_API_KEY' }],
  ['fireworks', { package: '@ai-sdk/fireworks', key: 'FIREWORKS_API_KEY' }],
  ['deepinfra', { package: '@ai-sdk/deepinfra', key: 'DEEPINFRA_API_KEY' }],
]);

/** What error sentences call a provider's settings: variables, or fields of a file. */
export interface ProviderSettingNames {
  readonly key: string;
  readonly baseUrl: string;
  /** Null if the provider's protocol cannot be chosen. */
  readonly api: string | null;
}

/** The names of a provider's settings in the environment. */
export function providerSettingNames(provider: string): ProviderSettingNames {
  const name = provider.toUpperCase();
  return {
    key: `${name}_API_KEY`,
    baseUrl: `${name}_BASE_URL`,
    api: provider === 'openai' ? 'RUNWIRE_OPENAI_API' : null,
  };
}

/** How to choose a protocol: `RUNWIRE_OPENAI_API=chat`, or a field of a file and its value. */
export function chosenApi(setting: string, api: ProviderApi): string {
  return setting.includes(' ') ? `${setting} to \`${api}\`` : `${setting}=${api}`;
}

/** Splits `provider/model`. Returns null if the id has another form. */
export function splitModelId(id: string): { readonly provider: string; readonly model: string } | null {
  const at = id.indexOf('/');
  return at < 1 || at === id.length - 1 ? null : { provider: id.slice(0, at), model: id.slice(at + 1) };
}
