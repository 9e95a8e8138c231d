import type { ChatKey } from '../domain/ids.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import { lockChatByKey } from '../store/queries/attachment-copies.ts';
import type { Store, Tx } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

/**
 * Runs one job of a sweep with the chat's row locked, so that no run can start concurrently. If it fails, the sweep
 * continues with other chats; if the store is unavailable, everything waits for the next sweep. Resolves to the result of
 * the job, or to false if it failed.
 *
 * Chats may share blobs, so transactions that free blobs may lock them in any order. On PostgreSQL the store repeats a
 * transaction that was ended by a deadlock (40P01).
 */
export async function sweepChat(
  store: Store,
  logger: Logger,
  chatKey: ChatKey,
  job: (tx: Tx) => Promise<boolean>,
): Promise<boolean> {
  try {
    return await store.transact('sweep', async (tx) => {
      await tx.all(lockChatByKey, { chatKey });
      return job(tx);
    });
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    logger.warn({ err: error, chatKey }, 'the attachments of a chat could not be swept; the next sweep retries');
    return false;
  }
}
