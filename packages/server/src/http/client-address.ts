import { type Address, isWithin, parseAddress, type Range, unmapped } from '@runwire/guarded-fetch/url-rules';

type HeaderValue = string | readonly string[] | undefined;

/** Returns the client's address as a text that is the same for all notations and for all addresses of a person. */
export function clientAddress(peer: string | undefined, forwardedFor: HeaderValue, trusted: readonly Range[]): string {
  const client = findClient(peer, forwardedFor, trusted);
  return client === null ? 'unknown' : shown(client);
}

/** Returns the client's address as people write it; null if it is not known. */
export function printedClientAddress(
  peer: string | undefined,
  forwardedFor: HeaderValue,
  trusted: readonly Range[],
): string | null {
  const client = findClient(peer, forwardedFor, trusted);
  return client === null ? null : printed(client);
}

/**
 * Finds the peer's address, or if the peer is a trusted proxy, the last address in `X-Forwarded-For` that is not. The
 * addresses before it prove nothing, because every client can send them.
 */
function findClient(peer: string | undefined, forwardedFor: HeaderValue, trusted: readonly Range[]): Address | null {
  let client = parseHop(peer ?? '');
  const hops = String(forwardedFor ?? '').split(',');
  while (client !== null && trusted.some((range) => isWithin(client as Address, range))) {
    const hop = parseHop(hops.pop() ?? '');
    // If a proxy wrote no address, its own is the last known address.
    if (hop === null) break;
    client = hop;
  }
  return client;
}

function printed({ bits, value }: Address): string {
  const size = bits === 32 ? 8 : 16;
  const parts = Array.from(
    { length: bits / size },
    (_, index) => (value >> BigInt(bits - size * (index + 1))) & ((1n << BigInt(size)) - 1n),
  );
  if (bits === 32) return parts.join('.');
  return new URL(`http://[${parts.map((part) => part.toString(16)).join(':')}]`).hostname.slice(1, -1);
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
