import {
  type ModelTraits,
  OFFLINE_MODEL,
  PACKAGES,
  PROVIDERS,
  type ProviderApi,
  type ProviderSettingNames,
  providerSettingNames,
  splitModelId,
} from '@runwire/models';
import { faultLine } from '../agencies/fault.ts';
import { notInstalled } from '../agencies/load-package.ts';
import { isKey, type ReadProviders } from '../agencies/read-providers.ts';
import type { Config, ProviderConfig, Secrets } from '../config/config.ts';
import { PROVIDERS_FILE, type ProviderEntry } from '../domain/model/provider-entry.ts';

interface NamedProvider {
  /** The first part of the ids of its models. */
  readonly name: string;
  readonly models: ReadonlyMap<string, ModelTraits>;
}

/** A provider that the server asks by one of its own protocols. */
export interface ProtocolProvider extends NamedProvider {
  readonly api: ProviderApi;
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly settings: ProviderSettingNames;
  /** False if no setting names the provider, which needs none. */
  readonly isSet: boolean;
}

/** A provider package of the AI SDK. */
export interface PackageProvider extends NamedProvider {
  readonly package: string;
  readonly options: Readonly<Record<string, unknown>>;
}

export type UsableProvider = ProtocolProvider | PackageProvider;

/** The providers that result from the settings, `providers.yaml` and the installed packages. */
export interface ProviderTable {
  readonly usable: ReadonlyMap<string, UsableProvider>;
  /** Sentences about packages that are not installed or have no key, by the provider's name. */
  readonly problems: ReadonlyMap<string, string>;
  readonly file: ReadProviders;
}

export interface TableParts extends Pick<Config, 'providers'>, Pick<Secrets, 'providerKeys' | 'variable'> {
  readonly file: ReadProviders;
  readonly isInstalled: (packageName: string) => boolean;
}

const NO_TRAITS: ReadonlyMap<string, ModelTraits> = new Map();

/** `providers.yaml` wins over the environment, field by field. */
export function providerTable(parts: TableParts): ProviderTable {
  const { providers, providerKeys, file } = parts;
  const usable = new Map<string, UsableProvider>();
  const problems = new Map<string, string>();
  const table = { usable, problems, file };
  if (file.unreadable !== null) return table;
  const ofSettings = new Map(providers.map((one) => [one.name, one]));
  for (const name of new Set([...ofSettings.keys(), ...PACKAGES.keys(), ...file.entries.keys()])) {
    if (file.broken.has(name)) continue;
    const entry = file.entries.get(name);
    const packageName = entry?.package ?? (entry?.api === undefined ? PACKAGES.get(name)?.package : undefined);
    if (packageName !== undefined) {
      const one = packageProvider(name, packageName, entry, parts);
      if (typeof one === 'string') problems.set(name, one);
      else usable.set(name, one);
      continue;
    }
    const one = protocolProvider(name, ofSettings.get(name), providerKeys.get(name) ?? null, entry);
    if (one !== null) usable.set(name, one);
  }
  return table;
}

/** Returns null if the provider has no key and no other address, but needs one of them. */
function protocolProvider(
  name: string,
  setting: ProviderConfig | undefined,
  settingKey: string | null,
  entry: ProviderEntry | undefined,
): ProtocolProvider | null {
  const known = PROVIDERS.get(name);
  const apiKey = entry?.apiKey ?? settingKey;
  const ownUrl = entry?.baseUrl ?? setting?.baseUrl;
  const baseUrl = ownUrl ?? known?.baseUrl;
  const api = entry?.api ?? setting?.api ?? known?.api;
  if (api === undefined || baseUrl === undefined) return null;
  if (known?.needsKey === true && apiKey === null && ownUrl === undefined) return null;
  const isSet = setting?.isSet === true || entry !== undefined;
  const settings = settingNames(name, setting, entry);
  return { name, api, baseUrl, apiKey, settings, models: entry?.models ?? NO_TRAITS, isSet };
}

/** Names for each field the place that counts: the file if it has the field, or if no variable is read for it. */
function settingNames(
  name: string,
  setting: ProviderConfig | undefined,
  entry: ProviderEntry | undefined,
): ProviderSettingNames {
  const variables = providerSettingNames(name);
  if (entry === undefined) return variables;
  const inFile = (field: string) => `\`${name}.${field}\` in ${PROVIDERS_FILE}`;
  const isKnown = PROVIDERS.has(name);
  return {
    key: isKnown && entry.apiKey === undefined ? variables.key : inFile('apiKey'),
    baseUrl: isKnown && entry.baseUrl === undefined ? variables.baseUrl : inFile('baseUrl'),
    // `RUNWIRE_OPENAI_API` is refused if no other variable sets OpenAI up.
    api: setting !== undefined && entry.api === undefined ? variables.api : inFile('api'),
  };
}

/** Returns a sentence if the package cannot be used. */
function packageProvider(
  name: string,
  packageName: string,
  entry: ProviderEntry | undefined,
  { variable, isInstalled }: TableParts,
): PackageProvider | string {
  if (!isInstalled(packageName)) return notInstalled(packageName);
  const known = PACKAGES.get(name);
  const options = entry?.options ?? {};
  const keyName = known?.package === packageName && options.apiKey === undefined ? known.key : null;
  const apiKey = keyName === null ? null : variable(keyName);
  if (keyName !== null && apiKey === null)
    return `Models of \`${name}\` need a key; set ${keyName}, and start the server again.`;
  if (apiKey !== null && !isKey(apiKey))
    return `${keyName} must contain only visible ASCII characters; check for spaces and line breaks.`;
  const models = entry?.models ?? NO_TRAITS;
  return { name, package: packageName, options: apiKey === null ? options : { ...options, apiKey }, models };
}

/** Returns a sentence about what to do if agencies cannot use the model, or null if they can. */
export function modelProblem({ usable, problems, file }: ProviderTable, id: string): string | null {
  const provider = splitModelId(id)?.provider;
  if (provider === undefined)
    return `\`${id}\` has no provider; write \`provider/model\`, such as \`openai/gpt-5-mini\`.`;
  if (id === OFFLINE_MODEL || usable.has(provider)) return null;
  const fault = file.unreadable ?? file.broken.get(provider);
  if (fault !== undefined) return `\`${id}\` cannot be used until this is fixed: ${faultLine(fault)}`;
  const problem = problems.get(provider);
  if (problem !== undefined) return problem;
  const names = [...new Set([...PROVIDERS.keys(), ...PACKAGES.keys(), ...file.entries.keys()])];
  if (!names.includes(provider))
    return `There is no provider \`${provider}\`; write a model of ${names.join(', ')}, or add the provider to providers.yaml.`;
  return `\`${id}\` needs a key; set ${providerSettingNames(provider).key}, and start the server again.`;
}

const PROTOCOL_NAMES = { responses: 'Responses', chat: 'Chat Completions', messages: 'Messages' };

/** Names the place of a provider's models, for people. */
export function locate(provider: UsableProvider): string {
  if ('package' in provider) return `the package ${provider.package}`;
  return `${PROTOCOL_NAMES[provider.api]} API at ${provider.baseUrl}`;
}
