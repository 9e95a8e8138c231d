import { faultLine } from '../agencies/fault.ts';
import type { ReadProviders } from '../agencies/read-providers.ts';
import type { Config, ProviderConfig, Secrets } from '../config/config.ts';
import {
  type ModelTraits,
  OFFLINE_MODEL,
  PROVIDERS,
  type ProviderApi,
  type ProviderEntry,
  providerSettingNames,
  splitModelId,
} from '../domain/providers.ts';

/** A provider whose models can be used. */
export interface UsableProvider {
  readonly name: string;
  readonly api: ProviderApi;
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly models: ReadonlyMap<string, ModelTraits>;
  /** False if no setting names the provider, which needs none. */
  readonly isSet: boolean;
}

/** What the settings and `providers.yaml` say together. */
export interface ProviderTable {
  readonly usable: ReadonlyMap<string, UsableProvider>;
  readonly file: ReadProviders;
}

type ProviderSettings = Pick<Config, 'providers'> & Pick<Secrets, 'providerKeys'>;

/** `providers.yaml` wins over the environment, field by field. */
export function providerTable({ providers, providerKeys }: ProviderSettings, file: ReadProviders): ProviderTable {
  const usable = new Map<string, UsableProvider>();
  const ofSettings = new Map(providers.map((one) => [one.name, one]));
  for (const name of new Set([...ofSettings.keys(), ...file.entries.keys()])) {
    if (file.unreadable !== null || file.broken.has(name)) continue;
    const one = merged(name, ofSettings.get(name), providerKeys.get(name) ?? null, file.entries.get(name));
    if (one !== null) usable.set(name, one);
  }
  return { usable, file };
}

/** Returns null if the provider has no key and no other address, but needs one of them. */
function merged(
  name: string,
  setting: ProviderConfig | undefined,
  settingKey: string | null,
  entry: ProviderEntry | undefined,
): UsableProvider | null {
  const known = PROVIDERS.get(name);
  const apiKey = entry?.apiKey ?? settingKey;
  const ownUrl = entry?.baseUrl ?? setting?.baseUrl;
  const baseUrl = ownUrl ?? known?.baseUrl;
  const api = entry?.api ?? setting?.api ?? known?.api;
  if (api === undefined || baseUrl === undefined) return null;
  if (known?.needsKey === true && apiKey === null && ownUrl === undefined) return null;
  const isSet = setting?.isSet === true || entry !== undefined;
  return { name, api, baseUrl, apiKey, models: entry?.models ?? new Map(), isSet };
}

/** Returns a sentence that tells what to do if agencies cannot use the model, or null. */
export function modelProblem({ usable, file }: ProviderTable, id: string): string | null {
  const provider = splitModelId(id)?.provider ?? id;
  if (id === OFFLINE_MODEL || usable.has(provider)) return null;
  const fault = file.unreadable ?? file.broken.get(provider);
  if (fault !== undefined) return `\`${id}\` cannot be used until this is fixed: ${faultLine(fault)}`;
  const names = [...new Set([...PROVIDERS.keys(), ...file.entries.keys()])];
  if (!names.includes(provider))
    return `There is no provider \`${provider}\`; write a model of ${names.join(', ')}, or add it to providers.yaml.`;
  return `\`${id}\` needs a key; set ${providerSettingNames(provider).key}, and start the server again.`;
}
