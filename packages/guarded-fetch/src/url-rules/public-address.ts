import { type Address, embeddedIpv4, unmapped } from './address.ts';
import { isWithin, parseRange, type Range } from './range.ts';

/**
 * The whole special-purpose registry of IANA for IPv4. A few of its blocks are reachable from everywhere, but they host
 * no files. Then multicast, and an address of a cloud provider's internal services that looks public.
 */
const SPECIAL_IPV4 = ranges(
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared by carriers; also Alibaba's metadata
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local; metadata of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; also Oracle's metadata
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // multicast tunnels
  '192.88.99.0/24', // 6to4 relays, deprecated
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
  '168.63.129.16/32', // Azure's own services for its machines
);

/** The only IPv6 block for global unicast. */
const GLOBAL_IPV6 = range('2000::/3');
/** The special blocks in it. 6to4 and Teredo contain IPv4 and are deprecated, so they are refused and not decoded. */
const SPECIAL_IPV6 = ranges(
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // AS112
  '3ffe::/16', // 6bone, given back
  '3fff::/20', // documentation
);
/** Networks without IPv4 reach all of IPv4 through this prefix (NAT64), so the embedded address is checked. */
const NAT64 = range('64:ff9b::/96');
/** ISATAP: any prefix, then one of these, then an IPv4 address. The bit for "globally unique" may be set. */
const ISATAP = [0x0000_5efen, 0x0200_5efen];

/** The address that a packet reaches: IPv4 if the given one is IPv4 written as IPv6, or leads to it by NAT64. */
export function reachedAddress(given: Address): Address {
  const address = unmapped(given);
  return isWithin(address, NAT64) ? embeddedIpv4(address) : address;
}

/** True if the address is global unicast, which means that it is on the public internet. */
export function isPublicAddress(given: Address): boolean {
  const address = reachedAddress(given);
  if (address.bits === 32) return !isAnyOf(address, SPECIAL_IPV4);
  if (ISATAP.includes((address.value >> 32n) & 0xffff_ffffn)) return false;
  return isWithin(address, GLOBAL_IPV6) && !isAnyOf(address, SPECIAL_IPV6);
}

const isAnyOf = (address: Address, known: readonly Range[]) => known.some((one) => isWithin(address, one));

function range(text: string): Range {
  const parsed = parseRange(text);
  if (parsed === null) throw new TypeError(`${text} is not an address range.`);
  return parsed;
}

function ranges(...texts: readonly string[]): readonly Range[] {
  return texts.map(range);
}
