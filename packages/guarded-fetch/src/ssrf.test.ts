import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { connect } from 'node:net';
import { test } from 'node:test';
import { count, plantedFault } from '@runwire/test-kit/scale.ts';
import { expectEqual, Shortfall, within } from '@runwire/test-kit/shortfall.ts';
import { FetchFailed } from './fetch-failed.ts';
import { GuardedFetcher } from './guarded-fetch.ts';
import type { Network } from './network.ts';
import { getNames, getServer, items, PUBLIC, type SsrfItem, sequences } from './testing/ssrf-corpus.ts';
import { type Names, type Serve, WatchedNetwork } from './testing/watched-network.ts';
import { checkFetchUrl } from './url-rules/check-url.ts';
import { ALLOW_NOTHING, type FetchAllow } from './url-rules/fetch-allow.ts';
import { sameHostAndPath } from './url-rules/same-place.ts';

/*
 * The guarded fetcher over a network in memory: names resolve to the item's addresses, and every dial is recorded.
 */

const CREDENTIALS = /^(authorization|proxy-authorization|cookie|referer):/im;
const SOCKETS = /^(TCP(SERVER|CONNECT)?|TLS|UDP(SEND)?|PIPECONNECT|GET(ADDR|NAME)INFOREQ|QUERY)WRAP$/;

/** What a fault replaces of a fetcher. */
interface Plant {
  readonly allow?: FetchAllow;
  readonly dial?: Network['dial'];
  readonly ownAddresses?: () => string[];
  /** The text that is checked instead of the given one. */
  readonly toText?: (text: string) => string;
}

const PLANTS: Readonly<Record<string, (network: WatchedNetwork, names: Names) => Plant>> = {
  'first-address': ({ resolved }, names) => {
    const isFirst = (address: string) => names[resolved.at(-1) ?? '']?.[0]?.[0] === address;
    return { allow: { ...ALLOW_NOTHING, allowsAddress: (one) => resolved.length > 0 && !isFirst(one) } };
  },
  'unchecked-redirects': ({ dialled }) => {
    const isOnwards = () => dialled.length > 0;
    return { allow: { ...ALLOW_NOTHING, allowsHost: isOnwards, allowsAddress: isOnwards, mayAllowPort: isOnwards } };
  },
  'dial-by-name': (network) => ({
    dial: async (to) => network.dial({ ...to, address: (await network.resolve(to.servername))[0] ?? to.address }),
  }),
  'real-socket': (network) => ({
    dial: (to) => {
      connect(1, '127.0.0.1').on('error', () => {});
      return network.dial(to);
    },
  }),
  'mended-text': () => ({ toText: (text) => URL.parse(text)?.href ?? text }),
  'own-interfaces': () => ({ ownAddresses: () => [] }),
};

/** A fetcher over a recorded network, with the planted fault. */
function getSubject(fault: string | null, names: Names, serve: Serve, own: readonly string[] = []) {
  const network = new WatchedNetwork(names, serve);
  const { dialled, connections, requests } = network;
  const { allow = ALLOW_NOTHING, toText = String, ...planted } = PLANTS[fault ?? '']?.(network, names) ?? {};
  const fetcher = new GuardedFetcher({
    maxBytes: 1024 * 1024,
    maxMs: 60_000,
    allow,
    network: { resolve: (name) => network.resolve(name), dial: planted.dial ?? ((to) => network.dial(to)) },
    ownAddresses: planted.ownAddresses ?? (() => own),
  });
  /** Resolves to the URL of the file, or to the kind of the failure. */
  const getEnd = async (what: string, url: string): Promise<string> => {
    try {
      const fetched = await within(what, 30_000, fetcher.fetch(new URL(url), new AbortController().signal));
      // A file name that the server suggests is not passed on.
      expectEqual(`fields of ${what}`, Object.keys(fetched).sort(), ['bytes', 'contentType', 'url']);
      return fetched.url.href;
    } catch (error) {
      if (error instanceof FetchFailed) return error.kind;
      throw error;
    }
  };
  return {
    network,
    isRefusedByText: (text: string) => 'problem' in checkFetchUrl(toText(text), allow),
    /** The end must be one of `ends`, after so many dials to the address `to`. */
    async fetch(what: string, url: string, ends: readonly string[], dials: number, to = PUBLIC): Promise<void> {
      const before = dialled.length;
      const end = await getEnd(what, url);
      if (!ends.includes(end)) throw new Shortfall(`outcome of ${what}: expected ${ends.join(' or ')}, found ${end}.`);
      const addresses = dialled.slice(before).map(({ address }) => address);
      expectEqual(`dials for ${what}`, addresses, new Array(dials).fill(to));
      for (const { ours } of connections) expectEqual(`connection of ${what} is closed`, ours.destroyed, true);
      for (const request of requests) expectEqual(`credentials for ${what}`, CREDENTIALS.exec(request), null);
    },
  };
}

type Figure = 'refused' | 'fetched' | 'failed' | 'refreshes';

/** Sends one item through the fetcher and compares the outcome with the expected one. */
async function checkItem(
  item: SsrfItem,
  { network, isRefusedByText, fetch }: ReturnType<typeof getSubject>,
): Promise<Figure> {
  const { stage, expect, url = '', refresh_key: key = '', refresh_value: value = '' } = item;
  const what = `${item.id} (${item.reason})`;
  const { href = '', hostname = '' } = URL.parse(url) ?? {};
  const location = item.redirect_chain?.[0]?.location ?? '';
  const expectText = (text: string, isRefused: boolean) =>
    expectEqual(`text of ${what}, refused`, isRefusedByText(text), isRefused);
  if (stage === 'refresh-map') {
    expectEqual(`outcome of ${what}`, sameHostAndPath(key, value, ALLOW_NOTHING) === null ? 'allow' : 'reject', expect);
    return 'refreshes';
  }
  if (stage === 'parse' || stage === 'literal') {
    expectText(url, true);
    // A parser may turn the text into another one, which may be public.
    if (href !== '' && isRefusedByText(href)) await fetch(what, href, ['refused'], 0);
    expectEqual(`names resolved for ${what}`, network.resolved.length, 0);
    return 'refused';
  }
  if (stage === 'dns' && expect === 'allow') {
    expectText(url, false);
    await fetch(what, href, [href], 1, getNames(item)[hostname]?.[0]?.[0]);
    return 'fetched';
  }
  if (expect === 'reject') {
    // A location that continues in the next line is not HTTP, and its text is refused too.
    const isBroken = location.includes('\r\n');
    if (isBroken) expectText(location, true);
    const ends = stage === 'dns' ? ['refused', 'unresolved'] : [isBroken ? 'broken' : 'refused'];
    if (href !== '') await fetch(what, href, ends, stage === 'dns' ? 0 : 1);
    return 'refused';
  }
  if (expect === 'bounded-failure' && item.server_behaviour?.startsWith('Content-Disposition') !== true) {
    await fetch(what, href, ['too_large', 'broken', 'status'], 1);
    return 'failed';
  }
  const isFollowed = expect === 'allow-without-credentials';
  await fetch(what, href, [isFollowed ? location : url], isFollowed ? 2 : 1);
  return 'fetched';
}

test('no URL reaches a private address', async () => {
  const fault = plantedFault();
  let sockets = 0;
  const init = (_: number, kind: string) => {
    if (SOCKETS.test(kind) && inTest.getStore() === true) sockets += 1;
  };
  const inTest = new AsyncLocalStorage<true>();
  inTest.enterWith(true);
  const hook = createHook({ init }).enable();
  const figures: Record<Figure, number> = { refused: 0, fetched: 0, failed: 0, refreshes: 0 };
  let dials = 0;
  for (const item of items) {
    const subject = getSubject(fault, getNames(item), getServer(item));
    figures[await checkItem(item, subject)] += 1;
    dials += subject.network.dialled.length;
  }
  for (const { what, names, own, location, fetches } of sequences) {
    const serve = getServer(location === undefined ? {} : { redirect_chain: [{ status: 302, location }] });
    const subject = getSubject(fault, names, serve, own);
    for (const [url, end, dialled] of fetches) await subject.fetch(`${what}, ${url}`, url, [end], dialled);
  }
  hook.disable();
  expectEqual('real sockets and questions to name servers', sockets, 0);
  // Every dial to an address that was not expected has failed its item above.
  const none = { dialled_refused: 0, loopback_dials: 0, own_dials: 0, real_sockets: 0 };
  count({ items: items.length, ...figures, dials, ...none });
});
