import { createHook } from 'node:async_hooks';
import { connect } from 'node:net';
import {
  ALLOW_NOTHING,
  checkFetchUrl,
  type FetchAllow,
  FetchFailed,
  GuardedFetcher,
  type Names,
  type Network,
  type Serve,
  sameHostAndPath,
  WatchedNetwork,
} from '@runwire/test-kit';
import {
  items,
  namesOf,
  PUBLIC,
  type SsrfItem,
  type SsrfSequence,
  sequences,
  serverOf,
} from '../packages/test-kit/src/ssrf-corpus.ts';
import { expectEqual, expectNumber, type Proof, Shortfall, within } from './support/proof.ts';

/*
 * The guarded fetcher over a network in memory: names resolve to the addresses of the item, and every dial is recorded.
 */

const CREDENTIALS = /^(authorization|proxy-authorization|cookie|referer):/im;

/** A fetcher over a recorded network, with the planted fault. */
class Subject {
  readonly network: WatchedNetwork;
  readonly #fault: string | null;
  readonly #allow: FetchAllow;
  readonly #fetcher: GuardedFetcher;

  constructor(fault: string | null, names: Names, serve: Serve, own: readonly string[] = []) {
    this.#fault = fault;
    this.network = new WatchedNetwork(names, serve);
    this.#allow = this.#allowOf(names);
    const ownAddresses = () => (fault === 'own-interfaces' ? [] : own);
    const limits = { maxBytes: 1024 * 1024, maxMs: 60_000 };
    this.#fetcher = new GuardedFetcher({ ...limits, allow: this.#allow, network: this.#faultyNetwork(), ownAddresses });
  }

  isRefusedByText(text: string): boolean {
    return (
      'problem' in checkFetchUrl(this.#fault === 'mended-text' ? (URL.parse(text)?.href ?? text) : text, this.#allow)
    );
  }

  #allowOf(names: Names): FetchAllow {
    const { dialled, resolved } = this.network;
    if (this.#fault === 'first-address') {
      const isFirst = (address: string) => names[resolved.at(-1) ?? '']?.[0]?.[0] === address;
      return { ...ALLOW_NOTHING, allowsAddress: (address) => resolved.length > 0 && !isFirst(address) };
    }
    const isOnwards = () => dialled.length > 0;
    return this.#fault === 'unchecked-redirects'
      ? { entries: [], allowsHost: isOnwards, allowsAddress: isOnwards, mayAllowPort: isOnwards }
      : ALLOW_NOTHING;
  }

  #faultyNetwork(): Network {
    const { network } = this;
    const dial: Network['dial'] = async (to) => {
      if (this.#fault === 'real-socket') connect(1, '127.0.0.1').on('error', () => {});
      if (this.#fault !== 'dial-by-name') return network.dial(to);
      const [address = to.address] = await network.resolve(to.servername);
      return network.dial({ ...to, address });
    };
    return { resolve: network.resolve.bind(network), dial };
  }

  /** Fetches: the failure's kind or the file's URL must be one of `ends`, after so many dials to the address `to`. */
  async fetch(what: string, url: string, ends: readonly string[], dials: number, to = PUBLIC): Promise<void> {
    const { dialled, connections, requests } = this.network;
    const before = dialled.length;
    const end = await within(what, 30_000, this.#fetcher.fetch(new URL(url), new AbortController().signal)).then(
      (fetched) => {
        // A file name that the server suggests is not passed on.
        expectEqual(`fields of ${what}`, Object.keys(fetched).sort(), ['bytes', 'contentType', 'url']);
        return fetched.url.href;
      },
      (error) => {
        if (error instanceof FetchFailed) return error.kind as string;
        throw error;
      },
    );
    if (!ends.includes(end)) throw new Shortfall(`outcome of ${what}: expected ${ends.join(' or ')}, found ${end}.`);
    const addresses = dialled.slice(before).map(({ address }) => address);
    expectEqual(`dials for ${what}`, addresses, new Array(dials).fill(to));
    for (const { ours } of connections) expectEqual(`connection of ${what} is closed`, ours.destroyed, true);
    for (const request of requests) expectEqual(`credentials for ${what}`, CREDENTIALS.exec(request), null);
  }
}

type Figure = 'refused' | 'fetched' | 'failed' | 'refreshes';

/** Sends one item through the fetcher and compares the outcome with the expected one. */
async function checkItem(item: SsrfItem, subject: Subject): Promise<Figure> {
  const { stage, expect, url = '', refresh_key: key = '', refresh_value: value = '' } = item;
  const what = `${item.id} (${item.reason})`;
  const { href = '', hostname = '' } = URL.parse(url) ?? {};
  const location = item.redirect_chain?.[0]?.location ?? '';
  const expectText = (text: string, isRefused: boolean) =>
    expectEqual(`text of ${what}, refused`, subject.isRefusedByText(text), isRefused);
  if (stage === 'refresh-map') {
    expectEqual(`outcome of ${what}`, sameHostAndPath(key, value, ALLOW_NOTHING) === null ? 'allow' : 'reject', expect);
    return 'refreshes';
  }
  if (stage === 'parse' || stage === 'literal') {
    expectText(url, true);
    // A parser may turn the text into another one, which may be public.
    if (href !== '' && subject.isRefusedByText(href)) await subject.fetch(what, href, ['refused'], 0);
    expectNumber(`names resolved for ${what}`, subject.network.resolved.length, 0);
    return 'refused';
  }
  if (stage === 'dns' && expect === 'allow') {
    expectText(url, false);
    await subject.fetch(what, href, [href], 1, namesOf(item)[hostname]?.[0]?.[0]);
    return 'fetched';
  }
  if (expect === 'reject') {
    // A location that continues in the next line is not HTTP, and its text is refused too.
    const isBroken = location.includes('\r\n');
    if (isBroken) expectText(location, true);
    const ends = stage === 'dns' ? ['refused', 'unresolved'] : [isBroken ? 'broken' : 'refused'];
    if (href !== '') await subject.fetch(what, href, ends, stage === 'dns' ? 0 : 1);
    return 'refused';
  }
  if (expect === 'bounded-failure' && item.server_behaviour?.startsWith('Content-Disposition') !== true) {
    await subject.fetch(what, href, ['too_large', 'broken', 'status'], 1);
    return 'failed';
  }
  const isFollowed = expect === 'allow-without-credentials';
  await subject.fetch(what, href, [isFollowed ? location : url], isFollowed ? 2 : 1);
  return 'fetched';
}

async function checkSequence({ what, names, own = [], location, fetches }: SsrfSequence, fault: string | null) {
  const serve = serverOf(location === undefined ? {} : { redirect_chain: [{ status: 302, location }] });
  const subject = new Subject(fault, names, serve, own);
  for (const [url, end, dials] of fetches) await subject.fetch(`${what}, ${url}`, url, [end], dials);
}

const SOCKETS = /^(TCP(SERVER|CONNECT)?|TLS|UDP(SEND)?|PIPECONNECT|GET(ADDR|NAME)INFOREQ|QUERY)WRAP$/;

export const proof: Proof = {
  name: 'ssrf',
  minutes: 0.1,
  faults: {
    'first-address': /^outcome of ssrf-228 .*: expected refused or unresolved, found https:/m,
    'unchecked-redirects': /^outcome of ssrf-242 .*: expected refused, found https:/m,
    'dial-by-name': /^dials for a second resolution, .*: expected \["93\.184\.216\.34"\], found \["127\.0\.0\.1"\]/m,
    'mended-text': /^text of ssrf-030 .*: expected true, found false/m,
    'own-interfaces':
      /^outcome of an address of this machine, https:\/\/own-0\.test\/a: expected refused, found https:/m,
    'real-socket': /^real sockets and questions to name servers: expected 0, found [1-9]/m,
  },
  figures: () => ({ items: 174, refused: 144, fetched: 8, failed: 5, refreshes: 17, dials: 20 }),
  async run({ fault }) {
    let sockets = 0;
    const count = (_: number, kind: string) => {
      if (SOCKETS.test(kind)) sockets += 1;
    };
    const hook = createHook({ init: count }).enable();
    const figures: Record<Figure, number> = { refused: 0, fetched: 0, failed: 0, refreshes: 0 };
    let dials = 0;
    for (const item of items) {
      const subject = new Subject(fault, namesOf(item), serverOf(item));
      figures[await checkItem(item, subject)] += 1;
      dials += subject.network.dialled.length;
    }
    for (const sequence of sequences) await checkSequence(sequence, fault);
    hook.disable();
    expectNumber('real sockets and questions to name servers', sockets, 0);
    // Every dial to an address that was not expected has failed its item above.
    const none = { dialled_refused: 0, loopback_dials: 0, own_dials: 0, real_sockets: 0 };
    return { items: items.length, ...figures, dials, ...none };
  },
};
