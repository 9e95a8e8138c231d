import { setImmediate as nextTurn } from 'node:timers/promises';
import { nextPortion } from '@runwire/lib/next-portion.ts';
import type { ChatKey } from '../domain/ids.ts';
import { jsonRows } from '../store/queries/file-batches.ts';
import { deleteDoc, docsOfChats, waitForChat } from '../store/queries/search-index.ts';
import type { Store } from '../store/store.ts';

/** About 500 words. SQLite removes one in about 30 µs, because it overwrites each in the file. */
const BYTES_TOGETHER = 6000;
/** If the chats are not deleted by then, the loop adds their words again. */
const RESTORE_MS = 60_000;

/**
 * Removes most words of long chats from the embedded store's index, in small transactions, so that the deletion itself is short.
 * Until then the chats' texts are searched. Pass all chats that are deleted together: they can share turns.
 */
export async function unindexEarly(store: Store, chatKeys: readonly ChatKey[]): Promise<void> {
  if (store.kind === 'postgres' || chatKeys.length === 0) return;
  const keys = jsonRows(chatKeys.map((chat) => ({ chat })));
  let docs = await store.reads.all(docsOfChats, { keys });
  while (sum(docs) > BYTES_TOGETHER) {
    const part = nextPortion(docs, BYTES_TOGETHER);
    await store.transact('search', async (tx) => {
      const dueAt = Date.now() + RESTORE_MS;
      for (const chatKey of new Set(part.map((row) => row.chat_key))) await tx.run(waitForChat, { chatKey, dueAt });
      for (const { doc } of part) await tx.run(deleteDoc, { doc });
    });
    docs = docs.slice(part.length);
    await nextTurn();
  }
}

const sum = (docs: readonly { readonly bytes: number }[]): number => docs.reduce((all, { bytes }) => all + bytes, 0);
