import { ALLOW_NOTHING, FetchFailed, sameHostAndPath } from '@runwire/test-kit';
import { GuardedSubject } from './support/guarded-subject.ts';
import { expectEqual, expectNumber, type Proof, Shortfall, within } from './support/proof.ts';
import { RealSockets } from './support/real-sockets.ts';
import { namesOf, PUBLIC_ADDRESS, type SsrfItem, serverOf, shown, ssrfItems } from './support/ssrf-items.ts';

const LIMIT_MS = 30_000;
const CREDENTIALS = /^(authorization|proxy-authorization|cookie|referer):/im;

/** What was seen, over all items. */
class Tally {
  refused = 0;
  fetched = 0;
  failed = 0;
  refreshes = 0;
  dials = 0;
  dialledRefused = 0;
}

/** What a fetch ended with: the URL that had the file, or how it failed. Anything else is a fault of ours, a 500. */
async function outcome(subject: GuardedSubject, url: URL, what: string): Promise<URL | FetchFailed> {
  try {
    const fetched = await within(what, LIMIT_MS, subject.fetch(url));
    // A file name that a server suggests is not even taken along.
    expectEqual(`what is known of ${what}`, Object.keys(fetched).sort(), ['bytes', 'contentType', 'url']);
    return fetched.url;
  } catch (error) {
    if (error instanceof FetchFailed) return error;
    throw error;
  } finally {
    for (const { ours } of subject.network.connections) expectEqual(`left open for ${what}`, ours.destroyed, true);
    for (const request of subject.network.requests) {
      expectEqual(`credentials sent for ${what}`, CREDENTIALS.exec(request)?.[0] ?? null, null);
    }
  }
}

function expectRefused(what: string, found: URL | FetchFailed, kinds: readonly FetchFailed['kind'][]): void {
  const kind = found instanceof URL ? 'fetched' : found.kind;
  if (!kinds.includes(kind as FetchFailed['kind'])) {
    throw new Shortfall(`outcome of ${what}: expected ${kinds.join(' or ')}, found ${kind}.`);
  }
}

/** What the text shows is refused before anything is asked of the network; also where the URL comes by another way. */
async function checkText(item: SsrfItem, subject: GuardedSubject, what: string, tally: Tally): Promise<void> {
  expectEqual(`text of ${what}, refused`, 'problem' in subject.check(item.url ?? ''), true);
  const url = URL.parse(item.url ?? '');
  // What a parser has mended is another text, and may well be a public place.
  if (url !== null && 'problem' in subject.check(url.href)) {
    expectRefused(what, await outcome(subject, url, what), ['refused']);
    tally.dialledRefused += expectNumber(`dials for ${what}`, subject.network.dialled.length, 0);
    expectNumber(`names asked for ${what}`, subject.network.resolved.length, 0);
  }
  tally.refused += 1;
}

async function checkAddresses(item: SsrfItem, subject: GuardedSubject, what: string, tally: Tally): Promise<void> {
  const checked = subject.check(item.url ?? '');
  if (item.expect === 'allow') {
    if ('problem' in checked) throw new Shortfall(`text of ${what}: expected to pass, found: ${checked.problem}.`);
    expectEqual(`file of ${what}`, String(await outcome(subject, checked.url, what)), checked.url.href);
    expectNumber(`dials for ${what}`, subject.network.dialled.length, 1);
    tally.fetched += 1;
    return;
  }
  // Some are addresses once they are parsed: their text shows it already.
  const url = URL.parse(item.url ?? '');
  if (url !== null) expectRefused(what, await outcome(subject, url, what), ['refused', 'unresolved']);
  tally.dialledRefused += expectNumber(`dials for ${what}`, subject.network.dialled.length, 0);
  tally.refused += 1;
}

async function checkRedirect(item: SsrfItem, subject: GuardedSubject, what: string, tally: Tally): Promise<void> {
  const found = await outcome(subject, new URL(item.url ?? ''), what);
  const isFollowed = item.expect === 'allow-without-credentials';
  if (item.expect === 'reject') {
    // A header that goes on in the next line is no HTTP any more; and its text is refused by itself.
    const location = item.redirect_chain?.[0]?.location ?? '';
    const isBroken = location.includes('\r\n');
    if (isBroken) expectEqual(`text of ${what}, refused`, 'problem' in subject.check(location), true);
    expectRefused(what, found, isBroken ? ['broken'] : ['refused']);
    tally.refused += 1;
  } else {
    const last = isFollowed ? item.redirect_chain?.[0]?.location : item.url;
    expectEqual(`place of ${what}`, String(found), last);
    tally.fetched += 1;
  }
  const dials = subject.network.dialled.map(({ address }) => address);
  const expected = isFollowed ? 2 : 1;
  tally.dialledRefused += expectNumber(`dials behind the redirect of ${what}`, dials.length, expected) - expected;
  expectEqual(`dialled for ${what}`, dials, new Array(expected).fill(PUBLIC_ADDRESS));
}

async function checkResponse(item: SsrfItem, subject: GuardedSubject, what: string, tally: Tally): Promise<void> {
  const found = await outcome(subject, new URL(item.url ?? ''), what);
  if (item.server_behaviour?.startsWith('Content-Disposition')) {
    expectEqual(`place of ${what}`, String(found), item.url);
    tally.fetched += 1;
  } else {
    expectRefused(what, found, ['too_large', 'broken', 'status']);
    tally.failed += 1;
  }
  expectNumber(`requests for ${what}`, subject.network.requests.length, 1);
}

function checkRefresh({ refresh_key: key = '', refresh_value: value = '', expect }: SsrfItem, what: string): void {
  const problem = sameHostAndPath(key, value, ALLOW_NOTHING);
  expectEqual(`outcome of ${what}`, problem === null ? 'allow' : 'reject', expect);
}

async function checkItem(item: SsrfItem, fault: string | null, tally: Tally): Promise<void> {
  const what = shown(item);
  if (item.stage === 'refresh-map') {
    checkRefresh(item, what);
    tally.refreshes += 1;
    return;
  }
  const subject = new GuardedSubject(fault, namesOf(item), serverOf(item));
  if (item.stage === 'parse' || item.stage === 'literal') await checkText(item, subject, what, tally);
  else if (item.stage === 'dns') await checkAddresses(item, subject, what, tally);
  else if (item.stage === 'redirect') await checkRedirect(item, subject, what, tally);
  else await checkResponse(item, subject, what, tally);
  tally.dials += subject.network.dialled.length;
}

const file = serverOf({ id: '', stage: 'dns', expect: 'allow', reason: '' });

const redirectTo = (location: string) =>
  serverOf({ id: '', stage: 'redirect', expect: 'reject', reason: '', redirect_chain: [{ status: 302, location }] });

/** A name that is public when it is looked at and loopback a moment later. Resolves to the dials to loopback. */
async function checkRebinding(fault: string | null): Promise<number> {
  const onwards = redirectTo('https://turns.test/b');
  const turning = { 'turns.test': [[PUBLIC_ADDRESS], ['127.0.0.1', '::1']] };
  const cases = [
    {
      what: 'a second answer',
      names: { 'turns.test': [[PUBLIC_ADDRESS, '127.0.0.1']] },
      serve: file,
      refused: [true, true],
    },
    { what: 'a second resolution', names: turning, serve: file, refused: [false, true] },
    { what: 'a second resolution behind a redirect', names: turning, serve: onwards, refused: [true, true] },
  ];
  let loopback = 0;
  for (const { what, names, serve, refused } of cases) {
    const subject = new GuardedSubject(fault, names, serve);
    for (const isRefused of refused) {
      const found = await outcome(subject, new URL('https://turns.test/a'), what);
      const local = subject.network.dialled.filter(({ address }) => address !== PUBLIC_ADDRESS).length;
      loopback += expectNumber(`dials to loopback by ${what}`, local, 0);
      expectEqual(`${what}, refused`, found instanceof FetchFailed && found.kind === 'refused', isRefused);
    }
  }
  return loopback;
}

/** Asks for public addresses of this machine: by name, in every form, and after a redirect. Resolves to the dials. */
async function checkOwnInterfaces(fault: string | null): Promise<number> {
  const own = ['104.16.0.9', '2606:4700::9'];
  const forms = [...own, '::ffff:104.16.0.9', '64:ff9b::6810:9'];
  const onwards = redirectTo('https://own-0.test/b');
  const names = {
    ...Object.fromEntries(forms.map((address, index) => [`own-${index}.test`, [[PUBLIC_ADDRESS, address]]])),
    'other.test': [[PUBLIC_ADDRESS]],
  };
  let dials = 0;
  const check = async (url: string, serve: typeof file, allowedDials: number) => {
    const subject = new GuardedSubject(fault, names, serve, own);
    const what = `an own address at ${url}`;
    expectRefused(what, await outcome(subject, new URL(url), what), ['refused']);
    dials += expectNumber(`dials for ${what}`, subject.network.dialled.length, allowedDials) - allowedDials;
  };
  for (const host of [...forms.keys().map((index) => `own-${index}.test`), '104.16.0.9', '[2606:4700::9]']) {
    await check(`https://${host}/a`, file, 0);
  }
  await check('https://other.test/a', onwards, 1);
  return dials;
}

export const proof: Proof = {
  name: 'ssrf',
  minutes: 0.1,
  faults: {
    'first-address': /^outcome of ssrf-228 .*: expected refused or unresolved, found fetched/m,
    'unchecked-redirects': /^outcome of ssrf-242 .*: expected refused, found fetched/m,
    'dial-by-name': /^dials to loopback by a second resolution: expected 0, found 1/m,
    'mended-text': /^text of ssrf-030 .*: expected true, found false/m,
    'own-interfaces': /^outcome of an own address at https:\/\/own-0\.test\/a: expected refused, found fetched/m,
    'real-socket': /^real sockets and questions to name servers: expected 0, found [1-9]/m,
  },
  figures: () => ({
    items: 174,
    refused: 144,
    fetched: 8,
    failed: 5,
    refreshes: 17,
    dials: 20,
    dialled_refused: 0,
    loopback_dials: 0,
    own_dials: 0,
  }),
  async run({ fault }) {
    using sockets = new RealSockets();
    const tally = new Tally();
    for (const item of ssrfItems) await checkItem(item, fault, tally);
    const loopback = await checkRebinding(fault);
    const own = await checkOwnInterfaces(fault);
    const { refused, fetched, failed, refreshes, dials, dialledRefused } = tally;
    return {
      items: expectNumber('items', refused + fetched + failed + refreshes, ssrfItems.length),
      refused,
      fetched,
      failed,
      refreshes,
      dials,
      dialled_refused: dialledRefused,
      loopback_dials: loopback,
      own_dials: own,
      real_sockets: expectNumber('real sockets and questions to name servers', sockets.count, 0),
    };
  },
};
