import { lookup, Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { FetchFailed } from './fetch-failed.ts';

const HOSTS_FILE = '/etc/hosts';
const TRY_MS = 3_000;
const TRIES = 2;
/** The name does not exist, or has no address of this kind. */
const NOT_THERE = ['ENOTFOUND', 'ENODATA'];

/**
 * Resolves a name to all its addresses: from the hosts file, or from the name servers, for exactly this name and
 * without search domains. It does not use `getaddrinfo`, which blocks one of four threads while a name server does not
 * answer. File access and the names of providers wait for the same threads, and callers choose these names.
 */
export async function resolveName(
  hostname: string,
  signal: AbortSignal,
  servers?: readonly string[],
): Promise<readonly string[]> {
  if (await isInHostsFile(hostname)) return (await lookup(hostname, { all: true })).map(({ address }) => address);
  signal.throwIfAborted();
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel);
  try {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    signal.throwIfAborted();
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0 || answers.every(isNotThere)) return addresses;
    throw new FetchFailed('unresolved', 'its host name could not be looked up');
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

function isNotThere(answer: PromiseSettledResult<unknown>): boolean {
  return answer.status === 'fulfilled' || NOT_THERE.includes((answer.reason as NodeJS.ErrnoException).code ?? '');
}

async function isInHostsFile(hostname: string): Promise<boolean> {
  if (hostname === 'localhost') return true;
  const text = await readFile(HOSTS_FILE, 'utf8').catch(() => '');
  return text
    .toLowerCase()
    .split('\n')
    .some((line) => line.replace(/#.*/, '').trim().split(/\s+/).slice(1).includes(hostname));
}
