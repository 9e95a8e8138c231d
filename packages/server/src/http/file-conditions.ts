import type { IncomingHttpHeaders } from 'node:http';
import type { StoredFile } from '../files/files.ts';

/** The decision about a request for a file's bytes. */
export type Reading =
  | { readonly kind: 'whole' }
  /** First and last byte, both inclusive. */
  | { readonly kind: 'part'; readonly range: { readonly first: number; readonly last: number } }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'no-such-range' };

type FileVersion = Pick<StoredFile, 'size' | 'etag' | 'modifiedAt'>;

/** RFC 9110, 13.2.2: checks first if the caller has the current bytes, then which range it wants. */
export function chooseReading(file: FileVersion, headers: IncomingHttpHeaders): Reading {
  if (isUnchanged(file, headers)) return { kind: 'unchanged' };
  // `If-Range`: a range of a changed file must not be appended to bytes of the old one. A date does not prove that the
  // file is unchanged.
  const wantsPart = headers.range !== undefined && isSame(file, headers['if-range']);
  return wantsPart ? toPart(file.size, headers.range ?? '') : { kind: 'whole' };
}

function isUnchanged(file: FileVersion, headers: IncomingHttpHeaders): boolean {
  const none = headers['if-none-match'];
  if (none !== undefined) return matchesEtag(none, file.etag);
  const since = Date.parse(headers['if-modified-since'] ?? '');
  return Number.isFinite(since) && Math.floor(file.modifiedAt / 1000) * 1000 <= since;
}

/** True if `If-None-Match` lists this version, by the weak comparison of RFC 9110, 8.8.3.2. */
export function matchesEtag(ifNoneMatch: string | undefined, current: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const bare = withoutWeakness(current);
  const listed = ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return ifNoneMatch.trim() === '*' || listed.some((etag) => withoutWeakness(etag) === bare);
}

function isSame(file: FileVersion, ifRange: string | string[] | undefined): boolean {
  return ifRange === undefined || (ifRange === file.etag && !file.etag.startsWith('W/'));
}

const withoutWeakness = (etag: string) => etag.replace(/^W\//, '');

/** Parses one range. Several ranges, another unit and malformed ranges are ignored, as RFC 9110 allows. */
function toPart(size: number, header: string): Reading {
  const [, from = '', to = ''] = /^bytes= *(\d{0,15})-(\d{0,15}) *$/i.exec(header) ?? [];
  if (from === '' && to === '') return { kind: 'whole' };
  if (from === '') {
    const count = Math.min(Number(to), size);
    return count === 0 ? { kind: 'no-such-range' } : { kind: 'part', range: { first: size - count, last: size - 1 } };
  }
  const first = Number(from);
  const last = to === '' ? size - 1 : Number(to);
  if (to !== '' && last < first) return { kind: 'whole' };
  if (first >= size) return { kind: 'no-such-range' };
  return { kind: 'part', range: { first, last: Math.min(last, size - 1) } };
}
