import type { Duplex } from 'node:stream';
import { unlessAborted } from '../unless-aborted.ts';
import { addressOfHost, parseAddress } from './address.ts';
import { portOf } from './check-url.ts';
import { type FetchAllow, HTTPS_PORT } from './fetch-allow.ts';
import { FetchFailed } from './fetch-failed.ts';
import type { DialTo, Network } from './network.ts';
import { isPublicAddress } from './public-address.ts';

/** How many addresses of one name are tried, and how long each but the last. */
const MAX_DIALS = 4;
const ATTEMPT_MS = 5_000;

/**
 * A connection for a URL whose text was checked. Its name is resolved once; one address that may not be reached refuses
 * all of them, for which one is dialled must not be a matter of luck; and what is dialled is an address, never the name.
 */
export async function openChecked(url: URL, allow: FetchAllow, network: Network, signal: AbortSignal): Promise<Duplex> {
  const servername = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = portOf(url);
  const addresses = addressOfHost(url.hostname) === null ? await resolved(network, servername, signal) : [servername];
  if (addresses.length === 0) throw new FetchFailed('unresolved', 'its host name is not known');
  if (!addresses.every((address) => mayDial({ address, port, servername }, allow))) {
    throw new FetchFailed('refused', 'its host has an address that is not on the public internet');
  }
  return dialOne(
    addresses.slice(0, MAX_DIALS).map((address) => ({ address, port, servername })),
    network,
    signal,
  );
}

function mayDial({ address, port, servername }: DialTo, allow: FetchAllow): boolean {
  const parsed = parseAddress(address);
  // What is no address would be resolved once more, by whoever dials it.
  if (parsed === null) return false;
  if (port === HTTPS_PORT && isPublicAddress(parsed)) return true;
  return allow.allowsHost(servername, port) || allow.allowsAddress(address, port);
}

async function resolved(network: Network, hostname: string, signal: AbortSignal): Promise<readonly string[]> {
  try {
    return [...new Set(await unlessAborted(signal, network.resolve(hostname, signal)))];
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FetchFailed) throw error;
    throw new FetchFailed('unresolved', 'its host name could not be looked up');
  }
}

/** The first that can be reached; where none can, what the last one failed with. */
async function dialOne(places: readonly DialTo[], network: Network, signal: AbortSignal): Promise<Duplex> {
  let last: unknown;
  for (const [index, place] of places.entries()) {
    try {
      return await dial(place, network, signal, index + 1 < places.length ? ATTEMPT_MS : null);
    } catch (error) {
      signal.throwIfAborted();
      last = error;
    }
  }
  throw last instanceof FetchFailed ? last : new FetchFailed('unreachable', 'its server could not be reached');
}

async function dial(place: DialTo, network: Network, signal: AbortSignal, limitMs: number | null): Promise<Duplex> {
  const attempt = new AbortController();
  const stop = () => attempt.abort(signal.reason);
  const timer = limitMs === null ? undefined : setTimeout(() => attempt.abort(new Error('Silent.')), limitMs);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  const socket = network.dial(place, attempt.signal);
  try {
    return await unlessAborted(attempt.signal, socket);
  } catch (error) {
    // One that is there after all is there for nobody.
    socket.then(
      (late) => late.destroy(),
      () => {},
    );
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}
