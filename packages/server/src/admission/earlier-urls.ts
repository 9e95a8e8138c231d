import type { AttachmentRefresh, EarlierUrls } from '../domain/attachment-refresh.ts';
import { earlierWithoutCopy, refreshUrl, urlsOfChat } from '../store/queries/attachments.ts';
import type { Reads, Tx } from '../store/store.ts';

const NOTHING: EarlierUrls = { known: new Set(), withoutCopy: [] };

/** `hasRefreshes`: whether it is asked which attachments the chat knows. */
export async function earlierUrls(reads: Reads, chatKey: string | null, hasRefreshes: boolean): Promise<EarlierUrls> {
  if (chatKey === null) return NOTHING;
  const [known, withoutCopy] = await Promise.all([
    hasRefreshes ? reads.all(urlsOfChat, { chatKey }) : [],
    reads.all(earlierWithoutCopy, { chatKey }),
  ]);
  return {
    known: new Set(known.map((row) => row.url_key)),
    withoutCopy: withoutCopy.map((row) => ({ url: row.url, urlKey: row.url_key })),
  };
}

/**
 * From here on the fresh links are those of the attachments, for this turn and for all later ones; also where a copy is
 * kept, for it may be lost.
 */
export async function applyRefreshes(tx: Tx, chatKey: string, refreshes: readonly AttachmentRefresh[]): Promise<void> {
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
