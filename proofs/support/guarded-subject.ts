import { connect } from 'node:net';
import {
  ALLOW_NOTHING,
  type CheckedUrl,
  checkFetchUrl,
  type FetchAllow,
  GuardedFetcher,
  type Names,
  type Network,
  type Serve,
  WatchedNetwork,
} from '@runwire/test-kit';

const MAX_BYTES = 1024 * 1024;
const MAX_MS = 60_000;

/** A fetcher over a network without a wire, as it is or with a fault in it. */
export class GuardedSubject {
  readonly network: WatchedNetwork;
  readonly #fault: string | null;
  readonly #fetcher: GuardedFetcher;
  readonly #allow: FetchAllow;

  constructor(fault: string | null, names: Names, serve: Serve, own: readonly string[] = []) {
    this.#fault = fault;
    this.network = new WatchedNetwork(names, serve);
    this.#allow = this.#allowed(names);
    const network = this.#faultyNetwork();
    const ownAddresses = () => (fault === 'own-interfaces' ? [] : own);
    this.#fetcher = new GuardedFetcher({
      allow: this.#allow,
      maxBytes: MAX_BYTES,
      maxMs: MAX_MS,
      network,
      ownAddresses,
    });
  }

  check(text: string): CheckedUrl {
    // The text that a parser has mended already shows nothing any more.
    return checkFetchUrl(this.#fault === 'mended-text' ? (URL.parse(text)?.href ?? text) : text, this.#allow);
  }

  fetch(url: URL) {
    return this.#fetcher.fetch(url, new AbortController().signal);
  }

  #allowed(names: Names): FetchAllow {
    const { dialled, resolved } = this.network;
    if (this.#fault === 'first-address') {
      const isFirst = (address: string) => names[resolved.at(-1) ?? '']?.[0]?.[0] === address;
      return { ...ALLOW_NOTHING, allowsAddress: (address) => resolved.length > 0 && !isFirst(address) };
    }
    if (this.#fault === 'unchecked-redirects') {
      const isOnwards = () => dialled.length > 0;
      return { entries: [], allowsHost: isOnwards, allowsAddress: isOnwards, mayAllowPort: isOnwards };
    }
    return ALLOW_NOTHING;
  }

  #faultyNetwork(): Network {
    const watched = this.network;
    const resolve = watched.resolve.bind(watched);
    if (this.#fault === 'dial-by-name') {
      return {
        resolve,
        dial: async (to) => {
          const [address = to.address] = await resolve(to.servername);
          return watched.dial({ ...to, address });
        },
      };
    }
    if (this.#fault === 'real-socket') {
      return {
        resolve,
        dial: (to) => {
          connect(1, '127.0.0.1').on('error', () => {});
          return watched.dial(to);
        },
      };
    }
    return watched;
  }
}
