import {
  activeRunOfChat,
  chatsWithAttachments,
  type DeletedIntegration,
  deletedIntegrations,
} from '../store/queries/attachment-copies.ts';
import { deleteAttachments, freeBlobsOfChat } from '../store/queries/attachments.ts';
import { deleteToolImagesOfChat } from '../store/queries/tool-images.ts';
import { first, type Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { sweepChat } from './sweep-chat.ts';

const BATCH = 100;

/**
 * Deletes the attachments and the tools' images of integrations that were deleted a day ago: bytes, inline images included, and
 * signed links.
 * The texts of their chats remain, although no caller can read them. A chat with an active run waits for its end.
 *
 * Integrations without any attachments left are remembered in memory, and checked once more after the next start.
 */
export class DeletedIntegrations {
  readonly #store: Store;
  readonly #logger: Logger;
  readonly #emptied = new Set<string>();

  constructor(store: Store, logger: Logger) {
    this.#store = store;
    this.#logger = logger;
  }

  /** Handles the integrations that were deleted before `until`. */
  async deleteAttachments(until: number, isClosed: () => boolean): Promise<void> {
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

  /** Resolves to true if no attachment is left. */
  async #empty({ integration_id: integrationId, deleted_at: since }: DeletedIntegration, isClosed: () => boolean) {
    let emptied = true;
    let oldest: { createdAt: number; chatKey: string } = { createdAt: Number.MAX_SAFE_INTEGER, chatKey: '' };
    for (;;) {
      const chats = await this.#store.reads.all(chatsWithAttachments, { integrationId, ...oldest, limit: BATCH });
      for (const { chat_key: chatKey, created_at: createdAt } of chats) {
        if (isClosed()) return false;
        const done = await sweepChat(this.#store, this.#logger, chatKey, async (tx) => {
          if ((await first(tx.all(activeRunOfChat, { chatKey }))) !== undefined) return false;
          // No message has used them since the integration was deleted, so their day is over.
          await tx.run(freeBlobsOfChat, { chatKey, since });
          await tx.run(deleteAttachments, { chatKey });
          await tx.run(deleteToolImagesOfChat, { chatKey });
          return true;
        });
        emptied &&= done;
        oldest = { createdAt, chatKey };
      }
      if (chats.length < BATCH) return emptied;
    }
  }
}
