import { type ChatId, chosenChatId, type IntegrationId, newChatKey, ownChatId } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import { integrationById, memberState } from '../../store/queries/accounts.ts';
import { chatById, chatsInTheWay } from '../../store/queries/chats.ts';
import { keepIntegration, lockChat } from '../../store/queries/locks.ts';
import { first, repeatOnConflict, type Store, type Tx, UniqueViolation } from '../../store/store.ts';
import { copyChat, SourceChanged } from './copy-chat.ts';
import { type ForkPoint, planFork } from './plan-fork.ts';

/** Treats null as absent. */
export interface ForkRequest {
  readonly runId?: string | null;
  readonly before?: boolean;
  readonly chatId?: string | null;
  readonly aliasChatId?: string | null;
}

const isConflict = (error: unknown) => error instanceof UniqueViolation || error instanceof SourceChanged;

/** Makes a new chat of the same member from the beginning of a chat. `read` returns what the caller gets of it. */
export async function forkChat<T>(
  store: Store,
  integrationId: IntegrationId,
  requested: string,
  input: ForkRequest,
  read: (tx: Tx, chatId: ChatId) => Promise<T>,
): Promise<T> {
  const point = toPoint(input);
  const fork = async () => {
    const chat = await first(store.reads.all(chatById, { integrationId, chatId: requested }));
    if (chat === undefined) throw notFound();
    // Planned before the transaction, because a long chat takes a while to read.
    const plan = await planFork(store.reads, chat.chat_key, point);
    return store.transact('account', async (tx) => {
      await tx.all(keepIntegration, { integrationId });
      if ((await first(tx.all(integrationById, { integrationId }))) === undefined) {
        throw new Refusal('integration_not_found');
      }
      const { consumer_id: consumerId } = chat;
      // An erasure deletes the member first: later it would not find the fork.
      if (consumerId !== null && (await first(tx.all(memberState, { integrationId, consumerId }))) === undefined) {
        throw new Refusal('member_not_found', 'The member of this chat was deleted.');
      }
      await tx.all(lockChat, { integrationId, chatId: requested });
      const source = await first(tx.all(chatById, { integrationId, chatId: requested }));
      if (source === undefined) throw notFound();
      if (source.chat_key !== chat.chat_key) throw new SourceChanged('Another chat has the id now.');
      const chatKey = newChatKey();
      const chatId = input.chatId ? chosenChatId(input.chatId) : ownChatId(chatKey);
      const alias = input.aliasChatId ?? null;
      const others = await tx.all(chatsInTheWay, { integrationId, chatId, alias });
      if (others.some((other) => other.chat_id === chatId)) throw new Refusal('chat_exists');
      if (others.length > 0) throw new Refusal('alias_taken');
      const now = Date.now();
      const own = {
        titleJson: null,
        metadataJson: null,
        createdAt: now,
        now,
        opensQuestions: true,
        isTransient: false,
      };
      await copyChat(tx, plan, { chatKey, integrationId, chatId, alias, consumerId, ...own });
      return read(tx, chatId);
    });
  };
  return repeatOnConflict(fork, isConflict);
}

const notFound = () => new Refusal('chat_not_found', 'This integration has no such chat.');

function toPoint({ runId = null, before = false }: ForkRequest): ForkPoint {
  if (runId !== null) return { at: before ? 'before' : 'after', runId };
  if (!before) return { at: 'newest-end' };
  throw new Refusal('invalid_request', '`before` needs `runId`: the run before whose message the new chat ends.');
}
