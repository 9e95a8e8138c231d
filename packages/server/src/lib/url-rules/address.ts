import { isIPv4, isIPv6 } from 'node:net';

/** An IP address as a number: notations differ, numbers do not. */
export interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

/** Null where the text is no address, or has a zone: an interface's name is no part of one. */
export function parseAddress(text: string): Address | null {
  if (isIPv4(text)) return { bits: 32, value: numberOf(text.split('.').map(Number), 8n) };
  if (!isIPv6(text) || text.includes('%')) return null;
  // Node's own parser of URLs spells every notation in one way.
  const [head = [], tail] = new URL(`https://[${text}]/`).hostname.slice(1, -1).split('::').map(groups);
  if (tail === undefined) return { bits: 128, value: numberOf(head, 16n) };
  const zeros = new Array<number>(8 - head.length - tail.length).fill(0);
  return { bits: 128, value: numberOf([...head, ...zeros, ...tail], 16n) };
}

const groups = (text: string): number[] =>
  text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));

const numberOf = (parts: readonly number[], bits: bigint): bigint =>
  parts.reduce((sum, part) => (sum << bits) | BigInt(part), 0n);

/** The literal address that a URL's `hostname` is; null: a name. */
export const addressOfHost = (hostname: string): Address | null => parseAddress(hostname.replace(/^\[(.*)\]$/, '$1'));

/** IPv4 as IPv6 writes it (`::ffff:a.b.c.d`) is the same place: the system dials IPv4. */
export function unmapped(address: Address): Address {
  const isMapped = address.bits === 128 && address.value >> 32n === 0xffffn;
  return isMapped ? embeddedIpv4(address) : address;
}

/** The last 32 bits, where forms that carry IPv4 have it. */
export const embeddedIpv4 = ({ value }: Address): Address => ({ bits: 32, value: value & 0xffff_ffffn });
