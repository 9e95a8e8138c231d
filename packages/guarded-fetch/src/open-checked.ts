import type { Duplex } from 'node:stream';
import { unlessAborted } from '@runwire/lib/unless-aborted.ts';
import { FetchFailed, finalFailure } from './fetch-failed.ts';
import type { DialTo, Network } from './network.ts';
import { type Address, addressOfHost, parseAddress } from './url-rules/address.ts';
import { getPort } from './url-rules/check-url.ts';
import { type FetchAllow, HTTPS_PORT } from './url-rules/fetch-allow.ts';
import { WORDS } from './url-rules/fetch-words.ts';
import { isPublicAddress, reachedAddress } from './url-rules/public-address.ts';

/** How many addresses of one name are tried. Each attempt except the last has this time limit. */
const MAX_DIALS = 4;
const ATTEMPT_MS = 5_000;

export interface OpenOptions {
  readonly allow: FetchAllow;
  readonly network: Network;
  readonly ownAddresses: () => readonly string[];
}

/**
 * Opens a connection for a URL whose text was checked. Its name is resolved once. If one of its addresses is
 * not allowed, all are refused, so that the result does not depend on which address is dialled. Only an address is
 * dialled, never the name.
 */
export async function openChecked(url: URL, options: OpenOptions, signal: AbortSignal): Promise<Duplex> {
  const { allow, network } = options;
  const servername = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = getPort(url);
  const isPlain = url.protocol === 'http:';
  const addresses = addressOfHost(url.hostname) === null ? await resolved(network, servername, signal) : [servername];
  if (addresses.length === 0) throw finalFailure('unresolved', 'its host name does not exist', 'check the link');
  const own = options.ownAddresses().flatMap((text) => parseAddress(text) ?? []);
  if (!addresses.every((address) => mayDial({ address, port, servername, isPlain }, allow, own))) {
    // The sentence does not tell which of the two it is, so a caller who guesses names learns nothing about this
    // machine.
    throw finalFailure(
      'refused',
      'its host has an address that is not on the public internet, or is this server itself',
      `${WORDS[allow.purpose].name} ${allow.setting}`,
    );
  }
  return dialOne(
    addresses.slice(0, MAX_DIALS).map((address) => ({ address, port, servername, ...(isPlain ? { isPlain } : {}) })),
    network,
    signal,
  );
}

function mayDial({ address, port, servername, isPlain }: DialTo, allow: FetchAllow, own: readonly Address[]): boolean {
  const parsed = parseAddress(address);
  // Text that is no address would be resolved a second time when it is dialled.
  if (parsed === null) return false;
  const { bits, value } = reachedAddress(parsed);
  const isOwn = own.some((one) => one.bits === bits && one.value === value);
  if (isPlain !== true && port === HTTPS_PORT && isPublicAddress(parsed) && !isOwn) return true;
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

/** Resolves to a connection to the first address that can be reached. Rejects with the last failure if none can. */
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
    // If the dial succeeds after we gave up, close the socket.
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
