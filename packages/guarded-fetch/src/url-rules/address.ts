import { isIPv4, isIPv6 } from 'node:net';

/** An IP address as a number, which is the same for all notations. */
export interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

/** Returns null if the text is no address, or has a zone, which names an interface and is no part of the address. */
export function parseAddress(text: string): Address | null {
  if (isIPv4(text)) return { bits: 32, value: getNumber(text.split('.').map(Number), 8n) };
  if (!isIPv6(text) || text.includes('%')) return null;
  // Node's URL parser converts every notation to one form.
  const [head = [], tail] = new URL(`https://[${text}]/`).hostname.slice(1, -1).split('::').map(groups);
  if (tail === undefined) return { bits: 128, value: getNumber(head, 16n) };
  const zeros = new Array<number>(8 - head.length - tail.length).fill(0);
  return { bits: 128, value: getNumber([...head, ...zeros, ...tail], 16n) };
}

const groups = (text: string): number[] =>
  text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));

const getNumber = (parts: readonly number[], bits: bigint): bigint =>
  parts.reduce((sum, part) => (sum << bits) | BigInt(part), 0n);

/** Returns the address if the `hostname` of a URL is one, or null if it is a name. */
export const addressOfHost = (hostname: string): Address | null => parseAddress(hostname.replace(/^\[(.*)\]$/, '$1'));

/** An IPv4 address in IPv6 notation (`::ffff:a.b.c.d`) is the same address: the system dials IPv4. */
export function unmapped(address: Address): Address {
  const isMapped = address.bits === 128 && address.value >> 32n === 0xffffn;
  return isMapped ? embeddedIpv4(address) : address;
}

/** Returns the last 32 bits, which are the IPv4 address in all forms that contain one. */
export const embeddedIpv4 = ({ value }: Address): Address => ({ bits: 32, value: value & 0xffff_ffffn });
