import {
  chatsWithCopiesToRelease,
  clearCopiesOfChat,
  freeCopiesOfChat,
  mayReleaseCopies,
} from '../store/queries/attachment-copies.ts';
import { first, type Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { sweepChat } from './sweep-chat.ts';

const BATCH = 100;

/**
 * Releases the copies of attachments of integrations that keep no copies any more: the messages refer to no bytes from
 * then on, and the sweep deletes the blobs a day later. A chat with an active run is skipped, because the run may be
 * reading them. The integration's setting is checked again for each chat.
 */
export async function releaseCopies(store: Store, logger: Logger, isClosed: () => boolean): Promise<void> {
  for (let after = ''; ; ) {
    const chats = await store.reads.all(chatsWithCopiesToRelease, { after, limit: BATCH });
    for (const { chat_key: chatKey, integration_id: integrationId } of chats) {
      if (isClosed()) return;
      await sweepChat(store, logger, chatKey, async (tx) => {
        if ((await first(tx.all(mayReleaseCopies, { chatKey, integrationId }))) === undefined) return false;
        await tx.run(freeCopiesOfChat, { chatKey, now: Date.now() });
        await tx.run(clearCopiesOfChat, { chatKey });
        return true;
      });
      after = chatKey;
    }
    if (chats.length < BATCH) return;
  }
}
