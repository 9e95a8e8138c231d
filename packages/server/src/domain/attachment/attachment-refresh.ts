import { checkFetchUrl, type FetchAllow, sameHostAndPath, urlKey } from '@runwire/guarded-fetch/url-rules';
import { Refusal } from '../refusal.ts';
import { MAX_URL_CHARACTERS } from './attachment.ts';
import { expiresAt } from './signed-link.ts';

/** A fresh link for an earlier attachment, which is identified by its URL without query and fragment. */
export interface AttachmentRefresh {
  readonly urlKey: string;
  readonly url: string;
}

/** Checks the text of `attachmentUrlRefreshes`. Returns the links, or the refusal of the first invalid link. */
export function readRefreshes(
  entries: Readonly<Record<string, string>>,
  allow: FetchAllow,
): readonly AttachmentRefresh[] | Refusal {
  const refreshes = new Map<string, AttachmentRefresh>();
  for (const [index, [key, value]] of Object.entries(entries).entries()) {
    const entry = `Entry ${index + 1} of \`attachmentUrlRefreshes\``;
    if (key.length > MAX_URL_CHARACTERS || value.length > MAX_URL_CHARACTERS) {
      return refused(`${entry} has a URL with more than ${MAX_URL_CHARACTERS} characters.`);
    }
    const problem = sameHostAndPath(key, value, allow);
    if (problem !== null) return refused(`${entry} ${problem}.`);
    const fresh = checkFetchUrl(value, allow);
    if ('problem' in fresh) return refused(`${entry} has a link that ${fresh.problem}.`);
    const known = urlKey(fresh.url);
    if (refreshes.has(known)) return refused(`${entry} names ${known} a second time; list each attachment once.`);
    refreshes.set(known, { urlKey: known, url: withoutFragment(fresh.url) });
  }
  return [...refreshes.values()];
}

/** The earlier attachments by URL of a chat. */
export interface EarlierUrls {
  /** The URL keys of all of them, including failed turns. */
  readonly known: ReadonlySet<string>;
  /** The attachments that are sent again and have no copy. They are fetched from these links. */
  readonly withoutCopy: readonly { readonly url: string; readonly urlKey: string }[];
}

/**
 * `contract-7-refreshes`: a key must be an earlier attachment URL of this chat. `contract-7-refresh-missing`: an earlier
 * file without a copy whose signed link has expired must be listed. Returns null if nothing is wrong.
 */
export function checkRefreshes(
  refreshes: readonly AttachmentRefresh[],
  earlier: EarlierUrls,
  nowMs: number,
): Refusal | null {
  const hasExpired = (url: string) => (expiresAt(new URL(url)) ?? Number.POSITIVE_INFINITY) <= nowMs;
  const listed = new Set<string>();
  for (const { urlKey: key, url } of refreshes) {
    listed.add(key);
    if (!earlier.known.has(key)) {
      return refused(
        `\`attachmentUrlRefreshes\` names ${key}, which is not an earlier attachment of this chat; leave it out.`,
      );
    }
    if (hasExpired(url)) {
      return refused(`The link that \`attachmentUrlRefreshes\` gives for ${key} has expired too; sign a new one.`);
    }
  }
  const missing = earlier.withoutCopy.find(({ url, urlKey: key }) => !listed.has(key) && hasExpired(url));
  if (missing === undefined) return null;
  return refused(
    `\`attachmentUrlRefreshes\` must list ${missing.urlKey}: its link has expired and the server keeps no copy of it; send a fresh link with the same host and path.`,
  );
}

/** The fragment of a URL is never sent to a server, so it is not stored. */
export function withoutFragment(url: URL): string {
  const copy = new URL(url);
  copy.hash = '';
  return copy.href;
}

const refused = (sentence: string) => new Refusal('invalid_attachment_refresh', sentence);
