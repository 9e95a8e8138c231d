import {
  activeRunOfChat,
  chatsWithCopiesToLetGo,
  freeCopiesOfChat,
  letGoOfCopies,
  lockChatByKey,
} from '../store/queries/attachment-copies.ts';
import { first, type Store } from '../store/store.ts';

const BATCH = 100;

/**
 * Where an integration keeps no attachments any more, those that were fetched by URL before lose their copies: the message
 * refers to no bytes from then on, and the sweep of what nothing refers to takes them a day later. A chat with an active
 * run is left alone: the run may be reading them. With the chat's row locked none can begin meanwhile.
 */
export async function letGoOfAllCopies(store: Store, isClosed: () => boolean): Promise<void> {
  for (let after = ''; !isClosed(); ) {
    const chats = await store.reads.all(chatsWithCopiesToLetGo, { after, limit: BATCH });
    for (const { chat_key: chatKey } of chats) {
      await store.transact('sweep', async (tx) => {
        await tx.all(lockChatByKey, { chatKey });
        if ((await first(tx.all(activeRunOfChat, { chatKey }))) !== undefined) return;
        await tx.run(freeCopiesOfChat, { chatKey, now: Date.now() });
        await tx.run(letGoOfCopies, { chatKey });
      });
      after = chatKey;
    }
    if (chats.length < BATCH) return;
  }
}
