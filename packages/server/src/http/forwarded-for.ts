import { isWithin, parseAddress, type Range, unmapped } from '@runwire/guarded-fetch/url-rules';
import type { Logger } from '../telemetry/logger.ts';

/** Enough for every proxy of an installation. */
const MAX_PEERS = 1000;

/**
 * Warns once if a peer that is not a trusted proxy sends `X-Forwarded-For`: probably it is a proxy that
 * `RUNWIRE_TRUSTED_PROXIES` does not name, so that all people share its address.
 */
export class ForwardedForWarning {
  readonly #trusted: readonly Range[];
  readonly #logger: Logger;
  /** The peers that are known to be trusted, so that their addresses are parsed once. */
  readonly #proxies = new Set<string>();
  #isDone = false;

  constructor(trusted: readonly Range[], logger: Logger) {
    this.#trusted = trusted;
    this.#logger = logger;
  }

  /** `peer` has sent the header. */
  note(peer: string | undefined): void {
    if (this.#isDone || peer === undefined || this.#proxies.has(peer)) return;
    const address = parseAddress(peer.replace(/%.*$/, ''));
    const isTrusted = address !== null && this.#trusted.some((range) => isWithin(unmapped(address), range));
    if (isTrusted) {
      if (this.#proxies.size < MAX_PEERS) this.#proxies.add(peer);
      return;
    }
    this.#isDone = true;
    this.#logger.warn(
      { peer },
      'X-Forwarded-For arrived from a peer that is not a trusted proxy, and is ignored: if the peer is your proxy, set RUNWIRE_TRUSTED_PROXIES to its address, otherwise all people share one limit of failed sign-ins',
    );
  }
}
