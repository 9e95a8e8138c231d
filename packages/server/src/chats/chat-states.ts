import type { Audit } from '../audit/audit.ts';
import { type Scope, wholeIntegration } from '../domain/account/scope.ts';
import {
  applyChanges,
  type ChatState,
  EMPTY_STATE,
  MAX_STATE_BYTES,
  parseState,
  type StateChange,
  stateJson,
  stateObject,
  tooLarge,
} from '../domain/chat/chat-state.ts';
import { mergePatch } from '../domain/chat/merge-patch.ts';
import type { ChatKey, IntegrationId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { newestState, storeState } from '../store/queries/chat-states.ts';
import { lockChat } from '../store/queries/locks.ts';
import { first, type Reads, type Store } from '../store/store.ts';
import { chatRow, refuseIfActive } from './chats.ts';

/** The audit log names at most so many changed keys, each cut to so many characters. */
const MAX_AUDITED_KEYS = 50;
const MAX_AUDITED_CHARACTERS = 100;

/** Reads and changes what chats keep. */
export class ChatStates {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  get(scope: Scope, chatId: string) {
    return getState(this.#store, scope, chatId);
  }

  patch(integrationId: IntegrationId, chatId: string, patch: Readonly<Record<string, unknown>>, audit: Audit) {
    return patchState(this.#store, integrationId, chatId, patch, audit);
  }
}

/** Returns the chat's state as an object. While a run is active, it has the changes of the steps that have finished. */
async function getState({ reads }: Pick<Store, 'reads'>, scope: Scope, requested: string) {
  const { chat_key: chatKey } = await chatRow(reads, scope, requested);
  return stateObject(await readState(reads, chatKey));
}

async function readState(reads: Reads, chatKey: ChatKey): Promise<ChatState> {
  const row = await first(reads.all(newestState, { chatKey }));
  return row === undefined ? EMPTY_STATE : parseState(row.state_json, row.agent);
}

/** Changes the state of an idle chat by a JSON merge patch. A run that is admitted concurrently has the chat's row locked. */
function patchState(
  store: Store,
  integrationId: IntegrationId,
  requested: string,
  patch: Readonly<Record<string, unknown>>,
  audit: Audit,
) {
  return store.transact('account', async (tx) => {
    await tx.all(lockChat, { integrationId, chatId: requested });
    const chat = await chatRow(tx, wholeIntegration(integrationId), requested);
    const { chat_key: chatKey, chat_id: chatId, consumer_id: consumerId } = chat;
    await refuseIfActive(tx, chatKey);
    const before = await readState(tx, chatKey);
    const changes = toChanges(before, patch);
    const after = applyChanges(before, changes);
    if (after.bytes > MAX_STATE_BYTES) throw new Refusal('invalid_request', tooLarge(after.bytes));
    if (changes.length === 0) return stateObject(before);
    await tx.run(storeState, { chatKey, stateJson: stateJson(after), agent: after.agent });
    // Values can be secrets.
    const names = changes
      .slice(0, MAX_AUDITED_KEYS)
      .map(([key]) => key.slice(0, MAX_AUDITED_CHARACTERS).toWellFormed());
    const audited = { stateKeys: names, stateKeyCount: changes.length };
    await audit(tx, { target: ['chat', chatId], integrationId, consumerId, after: audited });
    return stateObject(after);
  });
}

/** The keys whose values differ after the patch. */
function toChanges({ values }: ChatState, patch: Readonly<Record<string, unknown>>): readonly StateChange[] {
  const changes: StateChange[] = [];
  for (const [key, change] of Object.entries(patch)) {
    const before = values.get(key);
    const json =
      change === null
        ? null
        : JSON.stringify(mergePatch(before === undefined ? undefined : JSON.parse(before), change));
    if (json !== (before ?? null)) changes.push([key, json]);
  }
  return changes;
}
