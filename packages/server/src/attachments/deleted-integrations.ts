import {
  activeRunOfChat,
  chatsWithAttachments,
  type DeletedIntegration,
  deletedIntegrations,
} from '../store/queries/attachment-copies.ts';
import { deleteAttachments, freeBlobsOfChat } from '../store/queries/attachments.ts';
import { first, type Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { sweepChat } from './sweep-chat.ts';

const BATCH = 100;

/**
 * An integration that was deleted a day ago keeps the texts of its chats, which nobody can reach, but not what was attached to
 * them: neither the bytes, inline images too, nor the signed links. A chat with an active run waits for its end.
 *
 * Those that have nothing left are remembered here, and looked at once more after the next start.
 */
export class DeletedIntegrations {
  readonly #store: Store;
  readonly #logger: Logger;
  readonly #emptied = new Set<string>();

  constructor(store: Store, logger: Logger) {
    this.#store = store;
    this.#logger = logger;
  }

  /** Of those that were deleted by then. */
  async letGoOfAttachments(until: number, isClosed: () => boolean): Promise<void> {
    for (let after = ''; !isClosed(); ) {
      const rows = await this.#store.reads.all(deletedIntegrations, { until, after, limit: BATCH });
      for (const row of rows) {
        after = row.integration_id;
        if (this.#emptied.has(after)) continue;
        if (await this.#empty(row, isClosed)) this.#emptied.add(after);
      }
      if (rows.length < BATCH) return;
    }
  }

  /** Resolves to whether nothing is left. */
  async #empty({ integration_id: integrationId, deleted_at: since }: DeletedIntegration, isClosed: () => boolean) {
    let emptied = true;
    for (let after = ''; ; ) {
      const chats = await this.#store.reads.all(chatsWithAttachments, { integrationId, after, limit: BATCH });
      for (const { chat_key: chatKey, chat_id: chatId } of chats) {
        if (isClosed()) return false;
        const done = await sweepChat(this.#store, this.#logger, chatKey, async (tx) => {
          if ((await first(tx.all(activeRunOfChat, { chatKey }))) !== undefined) return false;
          // Nobody has needed them since then: their day is over.
          await tx.run(freeBlobsOfChat, { chatKey, since });
          await tx.run(deleteAttachments, { chatKey });
          return true;
        });
        emptied &&= done;
        after = chatId;
      }
      if (chats.length < BATCH) return emptied;
    }
  }
}
