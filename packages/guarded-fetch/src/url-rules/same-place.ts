import { checkFetchUrl, urlKey } from './check-url.ts';
import type { FetchAllow } from './fetch-allow.ts';

/**
 * Checks that a fresh link may replace an earlier one: `key`, the earlier URL without query and fragment, and `value`
 * must have the same host and path. Returns null if they do, otherwise the end of a sentence about the entry.
 */
export function sameHostAndPath(key: string, value: string, allow: FetchAllow): string | null {
  const old = checkFetchUrl(key, allow);
  if ('problem' in old) return `has a key that ${old.problem}`;
  if (/[?#]/.test(key)) return 'has a key with a query or a fragment; name the attachment without them';
  const fresh = checkFetchUrl(value, allow);
  if ('problem' in fresh) return `has a link that ${fresh.problem}`;
  if (urlKey(old.url) === urlKey(fresh.url)) return null;
  return 'has a link to another host or path; only the query may differ';
}
