import { addressOfHost, parseAddress, unmapped } from './address.ts';
import { isPlainName } from './host-name.ts';
import { isWithin, parseRange, type Range } from './range.ts';

/** `RUNWIRE_FETCH_ALLOW`, read: what may be fetched although it is not public, or not on port 443. */
export interface FetchAllow {
  /** As printed: each with its port. */
  readonly entries: readonly string[];
  /** Whether a name may be fetched from wherever it resolves to. */
  allowsHost(hostname: string, port: number): boolean;
  allowsAddress(address: string, port: number): boolean;
  /** Whether the text of a URL with this host and port leaves it possible that it is allowed: a name may resolve to a range. */
  mayAllowPort(hostname: string, port: number): boolean;
}

export const HTTPS_PORT = 443;

type Entry = { readonly shown: string; readonly port: number } & (
  | { readonly host: string }
  | { readonly range: Range }
);

/**
 * Entries of `host`, `host:port`, CIDR or CIDR:port, with white space or commas between; without a port it is 443. A single
 * address is a CIDR of one. Throws an `Error` whose message is the end of a sentence.
 */
export function parseFetchAllow(text: string): FetchAllow {
  const entries = text.split(/[\s,]+/).flatMap((part) => (part === '' ? [] : [parseEntry(part)]));
  const allowsAddress = (text: string, port: number) => {
    const address = parseAddress(text);
    if (address === null) return false;
    return entries.some((entry) => entry.port === port && 'range' in entry && isWithin(unmapped(address), entry.range));
  };
  const allowsHost = (hostname: string, port: number) =>
    entries.some((entry) => entry.port === port && 'host' in entry && entry.host === hostname);
  return {
    entries: entries.map(({ shown }) => shown),
    allowsHost,
    allowsAddress,
    mayAllowPort(hostname, port) {
      if (addressOfHost(hostname) !== null) return allowsAddress(hostname.replace(/^\[|\]$/g, ''), port);
      return allowsHost(hostname, port) || entries.some((entry) => entry.port === port && 'range' in entry);
    },
  };
}

export const ALLOW_NOTHING: FetchAllow = parseFetchAllow('');

function parseEntry(text: string): Entry {
  const range = parseRangeEntry(text);
  if (range !== null) return range;
  const [, name = '', port] = /^([^:]+)(?::(\d+))?$/.exec(text) ?? [];
  const host = URL.parse(`https://${name}/`)?.hostname;
  if (host === undefined || !isPlainName(host) || host !== name.toLowerCase()) throw wrong(text);
  return { host, ...withPort(text, host, port) };
}

/** `10.0.0.0/8`, `10.0.0.5`, `fd00::/8`, `[fd00::]/8`, `[fd00::5]`, all but a bare `fd00::5` with a port behind it or not. */
function parseRangeEntry(text: string): Entry | null {
  if (parseAddress(text) !== null) return rangeEntry(text, text, undefined, undefined);
  const [, bracketed, bare, length, port] = /^(?:\[([^\]]*)\]|([^[\]/]+?))(?:\/(\d+))?(?::(\d+))?$/.exec(text) ?? [];
  const address = bracketed ?? bare ?? '';
  if (parseAddress(address) === null) return null;
  if (bracketed !== undefined && !bracketed.includes(':')) throw wrong(text);
  return rangeEntry(text, address, length, port);
}

function rangeEntry(text: string, address: string, length: string | undefined, port: string | undefined): Entry {
  const parsed = parseAddress(address);
  const range = parseRange(`${address}/${length ?? parsed?.bits}`);
  if (parsed === null || range === null) throw wrong(text);
  // What resolves to IPv4 written as IPv6 is looked up as IPv4: an entry of that form would never count.
  if (unmapped(parsed) !== parsed) throw wrong(text);
  const shown = parsed.bits === 128 ? new URL(`https://[${address}]/`).hostname : address;
  return { range, ...withPort(text, `${shown}/${range.prefix}`, port) };
}

function withPort(text: string, shown: string, port: string | undefined): { shown: string; port: number } {
  const number = port === undefined ? HTTPS_PORT : Number(port);
  if (!(number >= 1 && number <= 65_535)) throw wrong(text);
  return { shown: `${shown}:${number}`, port: number };
}

const wrong = (text: string): Error =>
  new Error(
    `has \`${text.slice(0, 100)}\` in it, which is no host, address or range of addresses; write entries such as files.example.internal, files.example.internal:8443, 10.1.0.0/16 or [fd00::]/8:8443.`,
  );
