import type { IncomingHttpHeaders } from 'node:http';
import type { ByteRange, MountFile } from '../files/mount-store.ts';

/** What a request for a file's bytes comes to. */
export type Reading =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly range: ByteRange }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'no-such-range' };

/** RFC 9110, 13.2.2: first whether the caller has the bytes already, then which of them it wants. */
export function readingOf(file: MountFile, headers: IncomingHttpHeaders): Reading {
  if (isUnchanged(file, headers)) return { kind: 'unchanged' };
  // "If-Range": a range of other bytes than those the caller began with would be glued to them. A date is no proof of that.
  const wantsPart = headers.range !== undefined && isSame(file, headers['if-range']);
  return wantsPart ? partOf(file.size, headers.range ?? '') : { kind: 'whole' };
}

function isUnchanged(file: MountFile, headers: IncomingHttpHeaders): boolean {
  const none = headers['if-none-match'];
  if (none !== undefined) {
    const bare = withoutWeakness(file.etag);
    return none.trim() === '*' || (none.match(/(?:W\/)?"[^"]*"/g) ?? []).some((etag) => withoutWeakness(etag) === bare);
  }
  const since = Date.parse(headers['if-modified-since'] ?? '');
  return Number.isFinite(since) && Math.floor(file.modifiedAt / 1000) * 1000 <= since;
}

function isSame(file: MountFile, ifRange: string | string[] | undefined): boolean {
  return ifRange === undefined || (ifRange === file.etag && !file.etag.startsWith('W/'));
}

const withoutWeakness = (etag: string) => etag.replace(/^W\//, '');

/** One range; several, another unit, or one that is not well written are ignored, as RFC 9110 allows. */
function partOf(size: number, header: string): Reading {
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
