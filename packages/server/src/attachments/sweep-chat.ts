import { StoreUnavailable } from '../domain/unavailable.ts';
import { lockChatByKey } from '../store/queries/attachment-copies.ts';
import type { Store, Tx } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

/**
 * What a sweep does to one chat: with its row locked no run can begin meanwhile. One that fails keeps no other from its turn;
 * where the store is away, all wait for the next sweep. Resolves to whether it was done.
 *
 * Chats may share blobs, and transactions that free them, deletes of chats too, may meet in any order: on PostgreSQL the store
 * repeats the one that a deadlock ended (40P01).
 */
export async function sweepChat(
  store: Store,
  logger: Logger,
  chatKey: string,
  job: (tx: Tx) => Promise<boolean>,
): Promise<boolean> {
  try {
    return await store.transact('sweep', async (tx) => {
      await tx.all(lockChatByKey, { chatKey });
      return job(tx);
    });
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    logger.warn(
      { err: error, chatKey },
      'the attachments of a deleted chat could not be deleted; the next sweep retries',
    );
    return false;
  }
}
