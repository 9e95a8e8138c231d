import { type Address, isWithin, parseAddress, type Range, unmapped } from '@runwire/guarded-fetch/url-rules';

/**
 * Returns the client's address, as a text that is the same for all notations. It is the peer's address, or if
 * the peer is a trusted proxy, the last address in `X-Forwarded-For` that is not. The addresses before it prove nothing,
 * because every client can send them.
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | readonly string[] | undefined,
  trusted: readonly Range[],
): string {
  let client = parseHop(peer ?? '');
  const hops = String(forwardedFor ?? '').split(',');
  while (client !== null && trusted.some((range) => isWithin(client as Address, range))) {
    const hop = parseHop(hops.pop() ?? '');
    // If a proxy wrote no address, its own is the last known address.
    if (hop === null) break;
    client = hop;
  }
  return client === null ? 'unknown' : shown(client);
}

/** Some proxies append the client's port. */
function parseHop(text: string): Address | null {
  const bare = text.trim().replace(/^\[(.*)\](:\d+)?$/, '$1');
  const address = parseAddress(bare.replace(/%.*$/, '')) ?? parseAddress(bare.replace(/:\d+$/, ''));
  return address === null ? null : unmapped(address);
}

/** Everyone with IPv6 has at least 2^64 addresses, so all addresses with the same first 64 bits count as one. */
function shown({ bits, value }: Address): string {
  return bits === 32 ? `4:${value.toString(16)}` : `6:${(value >> 64n).toString(16)}`;
}
