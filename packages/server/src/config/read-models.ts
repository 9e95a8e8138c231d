import {
  OFFLINE_MODEL,
  PACKAGES,
  PROVIDERS,
  type ProviderApi,
  providerSettingNames,
  splitModelId,
} from '@runwire/models';
import { type ProviderConfig, SettingRefused } from './config.ts';
import { type ReadSetting, readUrl } from './read-network.ts';

/** Used if only a key is set, in this order: cheap current models that every account may use. */
const DEFAULT_MODELS = ['openai/gpt-5-mini', 'anthropic/claude-haiku-5-5'];
const OPENAI_APIS = ['responses', 'chat'] as const;

export interface ProviderSettings {
  readonly model: string;
  readonly providers: readonly ProviderConfig[];
  readonly providerKeys: ReadonlyMap<string, string>;
}

/** What can add providers, besides the settings. */
export interface ProviderSources {
  /** True if `providers.yaml` may add providers. */
  readonly hasFile: boolean;
  /** True if there is a folder of agencies, which may have packages. */
  readonly hasFolder: boolean;
}

/** Reads the default model and the providers. */
export function readModels(read: ReadSetting, sources: ProviderSources): ProviderSettings {
  const providers: ProviderConfig[] = [];
  const providerKeys = new Map<string, string>();
  const openAiApi = readOpenAiApi(read);
  for (const [name, known] of PROVIDERS) {
    const names = providerSettingNames(name);
    const key = readKey(read, names.key);
    const baseUrl = readUrl(read, names.baseUrl);
    if (key !== null) providerKeys.set(name, key);
    // A self-hosted server may need no key.
    const isSet = key !== null || baseUrl !== null;
    if (!isSet && known.needsKey) continue;
    const api = name === 'openai' ? (openAiApi ?? known.api) : known.api;
    providers.push(Object.freeze({ name, api, baseUrl: baseUrl ?? known.baseUrl, isSet }));
  }
  if (openAiApi !== null && !providers.some(({ name }) => name === 'openai')) {
    throw new SettingRefused(
      'RUNWIRE_OPENAI_API is set but neither OPENAI_API_KEY nor OPENAI_BASE_URL is; set one of them, or unset it.',
    );
  }
  const byKey = DEFAULT_MODELS.find((id) => providerKeys.has(splitModelId(id)?.provider ?? ''));
  const model = readModel(read, providers, sources) ?? byKey ?? OFFLINE_MODEL;
  return { model, providers: Object.freeze(providers), providerKeys };
}

function readModel(
  read: ReadSetting,
  providers: readonly ProviderConfig[],
  { hasFile, hasFolder }: ProviderSources,
): string | null {
  const text = read('RUNWIRE_MODEL');
  if (text === null || text === OFFLINE_MODEL) return text;
  const provider = splitModelId(text)?.provider ?? '';
  const isVisible = /^[\x21-\x7e]+$/.test(text);
  const packageName = isVisible ? PACKAGES.get(provider)?.package : undefined;
  // The provider is checked later, when the file is read and the packages are found.
  if (hasFile && isVisible && provider !== '') return text;
  if (hasFolder && packageName !== undefined) return text;
  if (packageName !== undefined) {
    throw new SettingRefused(
      `RUNWIRE_MODEL is \`${text}\`, which needs a package; set RUNWIRE_AGENCIES_DIR to a folder, and run \`npm install ${packageName}\` in it.`,
    );
  }
  if (!isVisible || !PROVIDERS.has(provider)) {
    const names = [...PROVIDERS.keys(), ...PACKAGES.keys()].join(', ');
    throw new SettingRefused(
      `RUNWIRE_MODEL is \`${text}\`; set it to the name of a provider (${names}), a slash and the name of a model, such as ${DEFAULT_MODELS[0]}, or to ${OFFLINE_MODEL}.`,
    );
  }
  if (!providers.some(({ name }) => name === provider)) {
    const { key, baseUrl } = providerSettingNames(provider);
    throw new SettingRefused(
      `RUNWIRE_MODEL is \`${text}\` but its key is missing; set ${key}, or set ${baseUrl} to a server that needs no key.`,
    );
  }
  return text;
}

function readKey(read: ReadSetting, name: string): string | null {
  const key = read(name);
  if (key !== null && !/^[\x21-\x7e]+$/.test(key)) {
    throw new SettingRefused(`${name} must contain only visible ASCII characters; check for spaces around it.`);
  }
  return key;
}

function readOpenAiApi(read: ReadSetting): ProviderApi | null {
  const text = read('RUNWIRE_OPENAI_API');
  if (text === null) return null;
  const api = OPENAI_APIS.find((known) => known === text);
  if (api === undefined) throw new SettingRefused(`RUNWIRE_OPENAI_API must be one of ${OPENAI_APIS.join(', ')}.`);
  return api;
}
