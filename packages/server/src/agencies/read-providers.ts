import type { ProviderFile } from '@runwire/contract/schemas';
import { OFFLINE_PROVIDER, PACKAGES, PROVIDERS } from '@runwire/models';
import { PROVIDERS_FILE, type ProviderEntry } from '../domain/model/provider-entry.ts';
import { AgencyFolder, FileRefused } from './agency-folder.ts';
import { checkProvidersShape } from './check-shape.ts';
import { expandVariables, type ReadVariable } from './expand-variables.ts';
import { type Fault, Faults, FILE_START, type Location, type Path } from './fault.ts';
import { readYaml } from './yaml-text.ts';

export interface ReadProviders {
  readonly entries: ReadonlyMap<string, ProviderEntry>;
  /** The first fault of each provider that cannot be used. */
  readonly broken: ReadonlyMap<string, Fault>;
  /** Null if the file could be read. Otherwise no provider is known: the file may change every one. */
  readonly unreadable: Fault | null;
  readonly faults: readonly Fault[];
}

/** What a folder without the file has. */
export const NO_PROVIDERS: ReadProviders = { entries: new Map(), broken: new Map(), unreadable: null, faults: [] };

/** Reads `providers.yaml` in the folder of agencies. A file that does not exist has no providers. */
export async function readProviders(path: string, variable: ReadVariable): Promise<ReadProviders> {
  const folder = await AgencyFolder.open(path);
  if (!(await folder.list('.')).includes(PROVIDERS_FILE)) return NO_PROVIDERS;
  const faults = new Faults();
  try {
    return providersIn(await folder.read(PROVIDERS_FILE), variable, faults);
  } catch (error) {
    if (!(error instanceof FileRefused)) throw error;
    faults.addAt(PROVIDERS_FILE, FILE_START, error.message);
    return unreadable(faults);
  }
}

function unreadable({ sorted }: Faults): ReadProviders {
  return { ...NO_PROVIDERS, unreadable: sorted[0] ?? null, faults: sorted };
}

function providersIn(text: string, variable: ReadVariable, faults: Faults): ReadProviders {
  const yaml = readYaml(PROVIDERS_FILE, text, faults, { isSecret: true });
  if (yaml === null) return unreadable(faults);
  const { value, location } = yaml;
  if (value === null) return NO_PROVIDERS;
  if (typeof value !== 'object' || Array.isArray(value)) {
    checkProvidersShape(value, location, faults);
    return unreadable(faults);
  }
  const entries = new Map<string, ProviderEntry>();
  const broken = new Map<string, Fault>();
  const all: Fault[] = [];
  // Each provider has its own faults, so that a fault stops only the agencies that use the provider.
  for (const [name, given] of Object.entries(value)) {
    const own = new Faults();
    const entry = checkProvidersShape({ [name]: given }, location, own)
      ? getEntry(name, given as ProviderFile, variable, { location, faults: own })
      : null;
    const [fault] = own.sorted;
    if (fault !== undefined) broken.set(name, fault);
    else if (entry !== null) entries.set(name, entry);
    all.push(...own.sorted);
  }
  return { entries, broken, unreadable: null, faults: all };
}

interface EntryLocation {
  readonly location: Location;
  readonly faults: Faults;
}

function getEntry(
  name: string,
  file: ProviderFile,
  variable: ReadVariable,
  { location, faults }: EntryLocation,
): ProviderEntry {
  const add = (path: Path, message: string, part?: 'key') => faults.add(location, [name, ...path], message, part);
  const expand = (path: Path, text: string) => expandVariables(text, variable, (problem) => add(path, problem));
  const { api, baseUrl, apiKey, models = {} } = file;
  checkForm(name, file, add);
  const address = baseUrl === undefined ? undefined : expand(['baseUrl'], baseUrl);
  const key = apiKey === undefined ? undefined : expand(['apiKey'], apiKey);
  // The values are not repeated, because they may be secret.
  if (address !== undefined && !isAddress(address)) {
    const example = 'such as https://models.example.com/v1, without a user name, a query or a fragment';
    add(['baseUrl'], `\`baseUrl\` is not a plain http or https address; write one, ${example}.`);
  }
  if (key !== undefined && !isKey(key)) {
    add(['apiKey'], '`apiKey` must contain only visible ASCII characters; check for spaces around it.');
  }
  const options = file.options === undefined ? undefined : expandedOptions(file.options, expand);
  if (typeof options?.apiKey === 'string' && !isKey(options.apiKey)) {
    add(['options', 'apiKey'], '`apiKey` must contain only visible ASCII characters; check for spaces around it.');
  }
  return {
    ...(api === undefined ? {} : { api }),
    ...(address === undefined ? {} : { baseUrl: address.replace(/\/+$/, '') }),
    ...(key === undefined ? {} : { apiKey: key }),
    ...(file.package === undefined ? {} : { package: file.package }),
    ...(options === undefined ? {} : { options }),
    models: new Map(Object.entries(models)),
  };
}

/** True if a header can contain the key. */
export const isKey = (text: string) => /^[\x21-\x7e]+$/.test(text);

type AddFault = (path: Path, message: string, part?: 'key') => void;

/** A provider has a protocol and an address, or a package. */
function checkForm(name: string, file: ProviderFile, add: AddFault): void {
  const { api, baseUrl } = file;
  const hasPackage = file.package !== undefined || (PACKAGES.has(name) && api === undefined);
  if (name === OFFLINE_PROVIDER) add([], `\`${name}\` is the built-in model; choose another name.`, 'key');
  else if (hasPackage) {
    const other = (['api', 'baseUrl', 'apiKey'] as const).find((field) => file[field] !== undefined);
    const remedy = other === 'api' ? 'remove one of them' : 'write what it needs in `options`';
    if (other !== undefined) add([other], `A provider with a package has no \`${other}\`; ${remedy}.`, 'key');
  } else if (!PROVIDERS.has(name) && (api === undefined || baseUrl === undefined)) {
    const one = 'add `package`, or `api: chat`, `api: responses` or `api: messages`';
    add([], `\`${name}\` is not a built-in provider; ${api === undefined ? one : 'add `baseUrl`'}.`, 'key');
  }
  if (file.options !== undefined && !hasPackage) {
    add(['options'], '`options` are those of a package; add `package`, or remove them.', 'key');
  }
}

/** Replaces variables in all texts. */
function expandedOptions(
  options: Readonly<Record<string, unknown>>,
  expand: (path: Path, text: string) => string | undefined,
): Readonly<Record<string, unknown>> {
  const visit = (one: unknown, at: Path): unknown => {
    if (typeof one === 'string') return expand(at, one);
    if (Array.isArray(one)) return one.map((item, index) => visit(item, [...at, index]));
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, visit(inner, [...at, key])]));
  };
  return visit(options, ['options']) as Readonly<Record<string, unknown>>;
}

function isAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}
