import { type AttachmentRefresh, checkRefreshes, type EarlierUrls } from '../domain/attachment/attachment-refresh.ts';
import type { ChatKey } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { earlierWithoutCopy, refreshUrl, urlsOfChat } from '../store/queries/attachments.ts';
import type { Reads, Tx } from '../store/store.ts';

const NONE: EarlierUrls = { known: new Set(), withoutCopy: [] };

/** Returns the refusal if a refresh or an earlier attachment's link is invalid. `chatKey` is null if the chat is new. */
export async function refreshesRefusal(
  reads: Reads,
  chatKey: ChatKey | null,
  refreshes: readonly AttachmentRefresh[] | Refusal,
  now: number,
): Promise<Refusal | null> {
  if (refreshes instanceof Refusal) return refreshes;
  return checkRefreshes(refreshes, await earlierUrls(reads, chatKey, refreshes.length > 0), now);
}

/** Reads the known URLs only if the request has refreshes. */
async function earlierUrls(reads: Reads, chatKey: ChatKey | null, hasRefreshes: boolean): Promise<EarlierUrls> {
  if (chatKey === null) return NONE;
  const [known, withoutCopy] = await Promise.all([
    hasRefreshes ? reads.all(urlsOfChat, { chatKey }) : [],
    reads.all(earlierWithoutCopy, { chatKey }),
  ]);
  return {
    known: new Set(known.map((row) => row.url_key)),
    withoutCopy: withoutCopy.map((row) => ({ url: row.url, urlKey: row.url_key })),
  };
}

/** Stores the fresh links for this turn and all later ones; also if a copy exists, because the copy may be lost. */
export async function applyRefreshes(tx: Tx, chatKey: ChatKey, refreshes: readonly AttachmentRefresh[]): Promise<void> {
  const fresh = new Map(refreshes.map(({ urlKey, url }) => [urlKey, url]));
  const rows = await tx.all(urlsOfChat, { chatKey });
  await Promise.all(
    rows.map(async (row) => {
      const url = fresh.get(row.url_key);
      if (url === undefined || url === row.url) return;
      await tx.run(refreshUrl, { chatKey, runId: row.run_id, position: row.position, url });
    }),
  );
}
