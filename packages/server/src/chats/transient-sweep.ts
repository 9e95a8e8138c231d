import { setImmediate as nextTurn } from 'node:timers/promises';
import { Sweep } from '@runwire/lib/sweep.ts';
import type { ChatKey } from '../domain/ids.ts';
import { unindexEarly } from '../search/unindex.ts';
import { lockChatByKey } from '../store/queries/attachment-copies.ts';
import {
  deleteTransientMark,
  dueTransientChats,
  endOfTransientChat,
  postponeTransient,
} from '../store/queries/transient-chats.ts';
import type { RowOf } from '../store/statement.ts';
import { first, type Store, type Tx } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { deleteWholeChat } from './delete-chat.ts';

interface TransientSweepOptions {
  readonly logMs: number;
  readonly sweepMs: number;
}

const CHATS_PER_PAGE = 100;

/**
 * Deletes transient chats some days after their last run ended. A chat is looked at when it is due; if it had a run since then,
 * it is due later. So the end of a run writes nothing for it. Several nodes can do this concurrently: each chat is locked.
 */
export class TransientSweep extends Sweep {
  readonly #store: Store;
  readonly #logMs: number;
  readonly #logger: Logger;

  constructor(store: Store, { logMs, sweepMs }: TransientSweepOptions, logger: Logger) {
    super(sweepMs, 'transient chats', logger);
    this.#store = store;
    this.#logMs = logMs;
    this.#logger = logger;
  }

  /** Resolves to the number of deleted chats. */
  protected override async sweepOnce(): Promise<number> {
    const now = Date.now();
    let deleted = 0;
    while (!this.isClosed) {
      // Each chat that was looked at is due later, so the next page has others.
      const page = await this.#store.reads.all(dueTransientChats, { now, limit: CHATS_PER_PAGE });
      for (const { chat_key: chatKey } of page) {
        if (this.isClosed) break;
        if (await this.#isOver(chatKey, now)) await unindexEarly(this.#store, [chatKey]);
        if (await this.#store.transact('sweep', (tx) => this.#visit(tx, chatKey, now))) deleted += 1;
        await nextTurn();
      }
      if (page.length < CHATS_PER_PAGE) break;
    }
    if (deleted > 0) this.#logger.info({ chats: deleted }, 'transient chats were deleted');
    return deleted;
  }

  /** True if the chat will probably be deleted. */
  async #isOver(chatKey: ChatKey, now: number): Promise<boolean> {
    const chat = await first(this.#store.reads.all(endOfTransientChat, { chatKey }));
    const endedAt = chat === undefined ? null : toEnd(chat);
    return endedAt !== null && endedAt + this.#logMs <= now;
  }

  /** Resolves to true if the chat was deleted. */
  async #visit(tx: Tx, chatKey: ChatKey, now: number): Promise<boolean> {
    await tx.all(lockChatByKey, { chatKey });
    const chat = await first(tx.all(endOfTransientChat, { chatKey }));
    if (chat === undefined) {
      // A node of an earlier version has deleted the chat.
      await tx.run(deleteTransientMark, { chatKey });
      return false;
    }
    const endedAt = toEnd(chat);
    // An active run ends later than now. Without a wait, the same page would be read again.
    const dueAt = endedAt === null ? now + Math.max(this.#logMs, 1) : endedAt + this.#logMs;
    if (dueAt > now) {
      await tx.run(postponeTransient, { chatKey, dueAt });
      return false;
    }
    await deleteWholeChat(tx, chatKey, now);
    return true;
  }
}

/** Returns when the chat's last run ended. Null if it is active. */
const toEnd = (chat: RowOf<typeof endOfTransientChat>): number | null =>
  chat.run_id === null ? chat.updated_at : chat.completed_at;
