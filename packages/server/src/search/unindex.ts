import { setImmediate as nextTurn } from 'node:timers/promises';
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
 * Until then the chats' texts are searched.
 */
export async function unindexEarly(store: Store, chatKeys: readonly ChatKey[]): Promise<void> {
  if (store.kind === 'postgres' || chatKeys.length === 0) return;
  const keys = jsonRows(chatKeys.map((chat) => ({ chat })));
  const docs = await store.reads.all(docsOfChats, { keys });
  let rest = docs.reduce((sum, { bytes }) => sum + bytes, 0);
  for (let start = 0; rest > BYTES_TOGETHER; ) {
    const { length, bytes } = nextPart(docs.slice(start));
    const part = docs.slice(start, start + length);
    await store.transact('search', async (tx) => {
      const dueAt = Date.now() + RESTORE_MS;
      for (const chatKey of new Set(part.map((row) => row.chat_key))) await tx.run(waitForChat, { chatKey, dueAt });
      for (const { doc } of part) await tx.run(deleteDoc, { doc });
    });
    start += length;
    rest -= bytes;
    await nextTurn();
  }
}

/** The next rows that are deleted together: at least one. */
function nextPart(docs: readonly { readonly bytes: number }[]) {
  let [length, bytes] = [0, 0];
  for (const doc of docs) {
    if (length > 0 && bytes + doc.bytes > BYTES_TOGETHER) break;
    length += 1;
    bytes += doc.bytes;
  }
  return { length, bytes };
}
