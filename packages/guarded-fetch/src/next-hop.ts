import { finalFailure } from './fetch-failed.ts';
import { checkFetchUrl } from './url-rules/check-url.ts';
import type { FetchAllow } from './url-rules/fetch-allow.ts';

export const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

/** Returns the URL that an answer redirects to. Its text is checked like the first URL. */
export function nextHop(from: URL, location: string | undefined, allow: FetchAllow): URL {
  if (location === undefined) {
    throw finalFailure('broken', 'its server redirects without a target', 'check the link');
  }
  // Headers are bytes. Bytes beyond ASCII are taken as UTF-8.
  const text = Buffer.from(location, 'latin1').toString();
  const isAbsolute = /^[a-z][a-z0-9+.-]*:/i.test(text);
  // The relative text is refused if a parser would change it, and the absolute URL if its target is not allowed.
  const shape = isAbsolute || !/[\p{Cc}\p{Z}\\]/u.test(text) ? text : null;
  const target = shape === null ? null : isAbsolute ? shape : (URL.parse(shape, from)?.href ?? null);
  const checked = target === null ? null : checkFetchUrl(target, allow);
  if (checked === null || 'problem' in checked) {
    throw finalFailure(
      'refused',
      'its server redirects to an address that is not allowed',
      `use a link that leads to the file itself, or add that address to ${allow.setting}`,
    );
  }
  return checked.url;
}
