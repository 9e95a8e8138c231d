import { addressOfHost, parseAddress, unmapped } from './address.ts';
import type { Purpose } from './fetch-words.ts';
import { isPlainName } from './host-name.ts';
import { isWithin, parseRange, type Range } from './range.ts';

/** What may be fetched although it is not public or not on port 443. */
export interface FetchAllow {
  /** This list's name in messages to people. */
  readonly setting: string;
  /** What the addresses are for, which messages name. */
  readonly purpose: Purpose;
  /** True if http is allowed for what the list names. */
  readonly allowsHttp: boolean;
  /** The entries for the output, each with its port. */
  readonly entries: readonly string[];
  /** True if the name may be fetched, whatever address it has. */
  allowsHost(hostname: string, port: number): boolean;
  allowsAddress(address: string, port: number): boolean;
  /** True if a URL with this host and port can be allowed: a name may resolve to an allowed range. */
  mayAllowPort(hostname: string, port: number): boolean;
}

export const HTTPS_PORT = 443;
export const HTTP_PORT = 80;

type Entry = { readonly shown: string; readonly port: number } & (
  | { readonly host: string }
  | { readonly range: Range }
);

/**
 * Parses entries of the form `host`, `host:port`, CIDR or CIDR:port, separated by white space or commas. The default
 * port is 443, and with `http` also 80. A single address is a CIDR of one. Messages call the list `setting`. Throws an `Error` whose message is the
 * end of a sentence.
 */
export function parseFetchAllow(
  text: string,
  setting = 'the list of allowed hosts',
  { http = false, purpose = 'files' }: { readonly http?: boolean; readonly purpose?: Purpose } = {},
): FetchAllow {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
  const entries = parts.flatMap((part, index) => parseEntries(part, http) ?? refuse(index + 1));
  const allowsAddress = (text: string, port: number) => {
    const address = parseAddress(text);
    if (address === null) return false;
    return entries.some((entry) => entry.port === port && 'range' in entry && isWithin(unmapped(address), entry.range));
  };
  const allowsHost = (hostname: string, port: number) =>
    entries.some((entry) => entry.port === port && 'host' in entry && entry.host === hostname);
  return {
    setting,
    purpose,
    allowsHttp: http,
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

/** An entry without a port means the ports of all allowed protocols. */
function parseEntries(text: string, http: boolean): Entry[] | null {
  const entry = parseEntry(text);
  if (entry === null) return null;
  const isPortless =
    text
      .replace(/^\[.*\]/, '')
      .split('/')
      .at(-1)
      ?.includes(':') === false || parseAddress(text) !== null;
  if (!http || !isPortless) return [entry];
  return [entry, { ...entry, shown: entry.shown.replace(/:443$/, `:${HTTP_PORT}`), port: HTTP_PORT }];
}

function parseEntry(text: string): Entry | null {
  if (parseAddress(text) !== null) return rangeEntry(text, undefined, undefined);
  const [, bracketed, bare = '', length, port] = ENTRY.exec(text) ?? [];
  if (bracketed !== undefined) return bracketed.includes(':') ? rangeEntry(bracketed, length, port) : null;
  if (parseAddress(bare) !== null || length !== undefined) return rangeEntry(bare, length, port);
  const host = URL.parse(`https://${bare}/`)?.hostname;
  // Addresses in unusual notation, and text that a parser would repair, are no names.
  if (host === undefined || !isPlainName(host) || host !== bare.toLowerCase()) return null;
  const shown = withPort(host, port);
  return shown === null ? null : { host, ...shown };
}

/** `[v6]` or any other host, then an optional `/length`, then an optional `:port`. */
const ENTRY = /^(?:\[([^\]]*)\]|([^[\]/]+?))(?:\/(\d+))?(?::(\d+))?$/;

function rangeEntry(address: string, length: string | undefined, port: string | undefined): Entry | null {
  const parsed = parseAddress(address);
  const range = parseRange(`${address}/${length ?? parsed?.bits}`);
  // Addresses in IPv4-mapped form are compared as IPv4, so an entry in that form would never match.
  if (parsed === null || range === null || unmapped(parsed) !== parsed) return null;
  const shown = parsed.bits === 128 ? new URL(`https://[${address}]/`).hostname : address;
  const withIt = withPort(`${shown}/${range.prefix}`, port);
  return withIt === null ? null : { range, ...withIt };
}

function withPort(shown: string, port: string | undefined): { shown: string; port: number } | null {
  const number = port === undefined ? HTTPS_PORT : Number(port);
  return number >= 1 && number <= 65_535 ? { shown: `${shown}:${number}`, port: number } : null;
}

/** Names the entry by its position, because a URL in the setting may contain a password. */
function refuse(place: number): never {
  throw new Error(
    `has an entry, number ${place}, that is not a host, an address or an address range; use entries such as files.example.com, files.example.com:8443, 10.1.0.0/16 or [fd00::]/8:8443`,
  );
}
