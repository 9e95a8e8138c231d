import { type Address, parseAddress } from './address.ts';

/** All addresses that begin with the same bits. */
export interface Range {
  readonly base: Address;
  readonly prefix: number;
}

/** Parses `10.0.0.0/8` or `fd00::/8`. Returns null if the text is no range, or if bits after the prefix are set. */
export function parseRange(text: string): Range | null {
  const [address = '', length, ...more] = text.split('/');
  const base = parseAddress(address);
  if (base === null || length === undefined || more.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(length)) return null;
  const prefix = Number(length);
  if (prefix > base.bits) return null;
  const behind = BigInt(base.bits - prefix);
  return (base.value >> behind) << behind === base.value ? { base, prefix } : null;
}

export function isWithin(address: Address, { base, prefix }: Range): boolean {
  const behind = BigInt(base.bits - prefix);
  return address.bits === base.bits && address.value >> behind === base.value >> behind;
}
