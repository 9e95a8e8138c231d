import type { Runwire } from '@runwire/client';
import type { Environment } from './command.ts';
import { hasCode, isUnreachable, UnreachableError, UsageError } from './exit-codes.ts';

const DEFAULT_URL = 'http://127.0.0.1:8787';

export interface ConnectionOptions {
  readonly url?: string;
}

export interface IntegrationOptions extends ConnectionOptions {
  readonly integration?: string;
}

/** An empty variable counts as not set. */
const setting = (env: Environment, name: string): string | undefined => env[name] || undefined;

/** True if the command is for a server, not for the installation of this machine. */
export const namesServer = (env: Environment, { url }: ConnectionOptions): boolean =>
  (url ?? setting(env, 'RUNWIRE_URL')) !== undefined;

interface ClientOptions {
  readonly integration?: string | undefined;
  readonly fetch?: typeof fetch;
}

/** Returns a client of the server that options and environment name. */
export async function connect(
  env: Environment,
  { url = setting(env, 'RUNWIRE_URL') ?? DEFAULT_URL }: ConnectionOptions,
  { integration, fetch: fetchBelow = fetch }: ClientOptions = {},
): Promise<Runwire> {
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    throw new UsageError(`The address of the server is \`${url}\`; write it as ${DEFAULT_URL}.`);
  }
  const apiKey = setting(env, 'RUNWIRE_API_KEY');
  if (apiKey === undefined) {
    throw new UsageError(
      'No API key is set; set RUNWIRE_API_KEY. The first start of the server prints a key, and `runwire keys create` makes one on its machine.',
    );
  }
  const { Runwire } = await import('@runwire/client');
  return new Runwire({ baseUrl: url, apiKey, integration, fetch: namingFailures(url, fetchBelow) });
}

/** Returns a client whose requests are for one integration: the named one, or the only one of the owner. */
export async function connectToIntegration(env: Environment, options: IntegrationOptions): Promise<Runwire> {
  const named = options.integration ?? setting(env, 'RUNWIRE_INTEGRATION');
  const integration = named ?? (await onlyIntegration(await connect(env, options)));
  return await connect(env, options, { integration });
}

/** Returns undefined for a client token: it names its integration itself. */
async function onlyIntegration(client: Runwire): Promise<string | undefined> {
  let ids: string[];
  try {
    ids = (await client.integrations.list().page()).items.map(({ apiIntegrationId }) => apiIntegrationId);
  } catch (error) {
    if (hasCode(error, 'token_forbidden')) return undefined;
    throw error;
  }
  if (ids.length === 1) return ids[0];
  const found = ids.length === 0 ? 'There is no integration' : `There are several integrations (${ids.join(', ')})`;
  const advice = ids.length === 0 ? 'make one with `runwire integrations create`' : 'name one with --integration';
  throw new UsageError(`${found}; ${advice}, or set RUNWIRE_INTEGRATION.`);
}

/** Waits for the first answer: a wrong address is reported immediately, not after a run's attempts. */
export async function reach(client: Runwire): Promise<void> {
  try {
    await client.me.get();
  } catch (error) {
    if (isUnreachable(error)) throw error;
  }
}

/** Names the address and the reason if no answer arrives. Files may be sent to a storage at another address. */
function namingFailures(url: string, fetchBelow: typeof fetch): typeof fetch {
  return async (input, init) => {
    try {
      return await fetchBelow(input, init);
    } catch (error) {
      const { cause } = error as Error;
      const reason = cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : String(error);
      const { origin } = new URL(input instanceof Request ? input.url : input);
      const [place, cure] =
        origin === new URL(url).origin
          ? [url, 'start the server, or set RUNWIRE_URL or --url to its address.']
          : [`The storage ${origin}`, 'check that this machine may connect to it.'];
      throw new UnreachableError(`${place} cannot be reached (${reason}); ${cure}`, { cause: error });
    }
  };
}
