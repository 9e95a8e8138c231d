import { isBlank } from '@runwire/lib/is-blank.ts';
import { parseOwnJson } from '@runwire/lib/strict-json.ts';
import type { Audit } from '../audit/audit.ts';
import { isVisible, type Scope, wholeIntegration } from '../domain/account/scope.ts';
import type { StoredAttachment } from '../domain/attachment/attachment.ts';
import { countMessages, countTextBytes, type ImportedTurn, isImported } from '../domain/chat/imported-turn.ts';
import { parseSandboxFiles } from '../domain/file/sandbox-file.ts';
import {
  type ChatId,
  type ChatKey,
  chosenChatId,
  type IntegrationId,
  newChatKey,
  ownChatId,
  type RunId,
} from '../domain/ids.ts';
import { numberBefore } from '../domain/list-cursor.ts';
import { jsonWith } from '../domain/list-page.ts';
import { checkMetadata } from '../domain/metadata.ts';
import { previewTitle } from '../domain/preview.ts';
import { parseQuestions, questionJson } from '../domain/question/question-json.ts';
import { Refusal } from '../domain/refusal.ts';
import { soughtWords } from '../domain/search/words.ts';
import { iso } from '../domain/time.ts';
import { Search } from '../search/search.ts';
import { unindexEarly } from '../search/unindex.ts';
import { type LargeListQuery, type LargePages, toPage } from '../store/large-pages.ts';
import { integrationById, memberState } from '../store/queries/accounts.ts';
import { insertChat } from '../store/queries/admission.ts';
import { type AskingMember, chatsAsking } from '../store/queries/asked-questions.ts';
import { activeRunOfChat, lockChatByKey } from '../store/queries/attachment-copies.ts';
import { attachmentsOfRuns } from '../store/queries/attachments.ts';
import {
  type ChatOrder,
  type ChatRow,
  chatById,
  chatSizes,
  chatsInTheWay,
  listChats,
  type MessageRow,
  messageSizes,
  messagesBefore,
  updateChat,
} from '../store/queries/chats.ts';
import { jsonRows } from '../store/queries/file-batches.ts';
import { chatsDeletedWith } from '../store/queries/forks.ts';
import { keepIntegration, lockChat } from '../store/queries/locks.ts';
import { waitForChat } from '../store/queries/search-index.ts';
import { first, type Reads, repeatOnConflict, type Store, type Tx } from '../store/store.ts';
import { type ChatApproval, keepApprovals, readApprovals } from './approvals.ts';
import { deleteWholeChat } from './delete-chat.ts';
import { type ForkRequest, forkChat } from './fork/fork-chat.ts';
import { type MessageDetails, readAnswers, readCalls } from './message-details.ts';
import { storeImported } from './store-imported.ts';

/** The columns that a chat's status does not have. */
type RecordColumns =
  | 'title_json'
  | 'metadata_json'
  | 'forked_run_id'
  | 'forked_from_id'
  | 'replaced_by_id'
  | 'first_text_json'
  | 'lasting_agent'
  | 'transient';

/** The fields of a chat that its status has too. */
export function shortChatJson(row: Omit<ChatRow, RecordColumns>) {
  return {
    chatId: row.chat_id,
    aliasChatId: row.alias,
    apiIntegrationId: row.integration_id,
    consumerId: row.consumer_id,
    status: row.active_run_id === null ? 'idle' : 'running',
    activeRunId: row.active_run_id,
    numMessages: row.num_messages,
    pending: parseQuestions(row.questions_json)?.questions.map(questionJson) ?? [],
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
}

function getTitle(row: ChatRow): string | null {
  return row.title_json === null ? null : (JSON.parse(row.title_json) as string);
}

function chatJson(row: ChatRow, approvals: readonly ChatApproval[]) {
  const metadata = row.metadata_json === null ? null : (parseOwnJson(row.metadata_json) as Record<string, unknown>);
  return { ...recordJson(row, approvals), metadata };
}

/** Returns the JSON of a chat with what was allowed in it. Throws `chat_not_found` if the caller does not see the chat. */
async function readChat(reads: Reads, scope: Scope, chatId: string) {
  const row = await chatRow(reads, scope, chatId);
  return chatJson(row, (await readApprovals(reads, [row.chat_key]))(row.chat_key));
}

/** What a caller sets of a chat. */
const labels = ({ title, metadata, approvals }: ReturnType<typeof chatJson>) => ({
  title,
  metadata,
  approvals: approvals.map(({ tool }) => tool),
});

/** A chat's record without its metadata. */
const recordJson = (row: ChatRow, approvals: readonly ChatApproval[]) => ({
  ...shortChatJson(row),
  title: getTitle(row),
  titlePreview: previewTitle(getTitle(row), row.first_text_json),
  forkedFrom: row.forked_from_id === null ? null : { chatId: row.forked_from_id, runId: row.forked_run_id },
  replacedBy: row.replaced_by_id,
  approvals,
  lastingAgent: row.lasting_agent,
  transient: row.transient === 1,
});

/** Returns the JSON of a chat in a list. The metadata can be long, so it is not parsed. */
const chatItem = ({ row, approvals }: ListedChat): string =>
  jsonWith(recordJson(row, approvals), 'metadata', row.metadata_json ?? 'null');

/** A chat with what was allowed in it. */
interface ListedChat {
  readonly row: ChatRow;
  readonly approvals: readonly ChatApproval[];
}

/**
 * The attachment as the caller sent it, with two differences. Inline bytes are replaced by a data URL without data that
 * has their type, hash and size, because a list of messages would otherwise have megabytes. A URL's query is removed,
 * because it may contain a signature; the rest is the key that `attachmentUrlRefreshes` uses.
 */
export function attachmentJson(row: StoredAttachment) {
  if (row.kind === 'input_file') {
    const filename = row.filename_json === null ? {} : { filename: JSON.parse(row.filename_json) as string };
    return { type: row.kind, file_url: row.url_key ?? withoutBytes(row), ...filename };
  }
  return { type: row.kind, image_url: row.url_key ?? withoutBytes(row), detail: row.detail };
}

function withoutBytes({ media_type, blob_key, size_bytes }: StoredAttachment): string {
  // A blob key starts with the hash.
  return `data:${media_type ?? 'application/octet-stream'};sha256=${blob_key?.slice(0, 64)};bytes=${size_bytes},`;
}

/** A message with what belongs to its run. */
interface ShownMessage extends MessageDetails {
  readonly row: MessageRow;
  readonly attachments: readonly StoredAttachment[];
}

function messageJson(chatId: ChatId, { row, attachments, calls, answers }: ShownMessage): string {
  const message = {
    messageId: row.message_id,
    chatId,
    runId: isImported(row.run_id) ? null : row.run_id,
    role: row.role,
    status: row.status,
    agent: row.agent,
    attachments: attachments.map(attachmentJson),
    sandboxFiles: parseSandboxFiles(row.sandbox_files_json),
    calls,
    answers,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    createdAt: iso(row.created_at),
  };
  return jsonWith(message, 'content', row.content_json);
}

const jsonOrNull = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

/** Throws `chat_not_found` if the caller does not see the chat. */
export async function chatRow(reads: Reads, { integrationId, member }: Scope, chatId: string): Promise<ChatRow> {
  const row = await first(reads.all(chatById, { integrationId, chatId }));
  if (row === undefined || !isVisible(member, row.consumer_id, row.chat_id))
    throw new Refusal('chat_not_found', 'This integration has no such chat.');
  return row;
}

export interface ChatQuery extends LargeListQuery {
  readonly consumerId?: string;
  readonly status?: 'idle' | 'running';
  readonly updatedAfter?: string;
  readonly waiting?: boolean;
  readonly sort?: ChatOrder;
  /** Words that all must occur in the chat's texts. */
  readonly q?: string;
}

/** Treats null as absent. */
export interface NewChat {
  readonly chatId?: string | null;
  readonly aliasChatId?: string | null;
  readonly consumerId?: string | null;
}

/** The turns that a new chat begins with. */
export interface ImportedHistory {
  readonly turns: readonly ImportedTurn[];
  /** True if the creation is tried again after this error. Absent: only after a unique violation. */
  readonly isConflict?: (error: unknown) => boolean;
  /** Stores the attachments of the turns, in the chat's transaction. `ids` has an id for each turn. */
  readonly attach: (
    tx: Tx,
    chat: { readonly integrationId: IntegrationId; readonly chatKey: ChatKey; readonly now: number },
    ids: readonly RunId[],
  ) => Promise<void>;
}

const NO_HISTORY: ImportedHistory = { turns: [], attach: async () => {} };

/** Absent fields keep their values, and null removes a value. */
export interface ChatChange {
  readonly title?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
  /** The approvals that remain. */
  readonly approvals?: readonly { readonly tool: string }[];
}

export class Chats {
  readonly #store: Store;
  readonly #pages: LargePages;
  readonly #search: Search;
  readonly #forgetTurns: (chatKey: ChatKey) => void;

  /** `forgetTurns` removes a deleted chat's turns from this node's memory. */
  constructor(store: Store, pages: LargePages, forgetTurns: (chatKey: ChatKey) => void) {
    this.#forgetTurns = forgetTurns;
    this.#search = new Search(store);
    this.#store = store;
    this.#pages = pages;
  }

  async create(integrationId: IntegrationId, input: NewChat, audit: Audit, imported: ImportedHistory = NO_HISTORY) {
    const chatKey = newChatKey();
    const chatId = input.chatId ? chosenChatId(input.chatId) : ownChatId(chatKey);
    const alias = input.aliasChatId ?? null;
    const consumerId = input.consumerId ?? null;
    if (consumerId !== null && isBlank(consumerId)) {
      throw new Refusal('invalid_request', '`consumerId` must not be blank.');
    }
    const create = () =>
      this.#store.transact('account', async (tx) => {
        const now = Date.now();
        const [, integration] = await Promise.all([
          tx.all(keepIntegration, { integrationId }),
          first(tx.all(integrationById, { integrationId })),
        ]);
        if (integration === undefined) throw new Refusal('integration_not_found');
        if (consumerId !== null && (await first(tx.all(memberState, { integrationId, consumerId }))) === undefined) {
          throw new Refusal('member_not_found');
        }
        const others = await tx.all(chatsInTheWay, { integrationId, chatId, alias });
        if (others.some((other) => other.chat_id === chatId)) throw new Refusal('chat_exists');
        if (others.length > 0) throw new Refusal('alias_taken');
        await tx.run(insertChat, {
          chat_key: chatKey,
          integration_id: integrationId,
          chat_id: chatId,
          alias,
          consumer_id: consumerId,
          num_messages: countMessages(imported.turns),
          text_bytes: countTextBytes(imported.turns),
          created_at: now,
        });
        if (imported.turns.length > 0) {
          const ids = await storeImported(tx, { chatKey, agent: integration.default_agent, now }, imported.turns);
          await imported.attach(tx, { integrationId, chatKey, now }, ids);
          await tx.run(waitForChat, { chatKey, dueAt: 0 });
        }
        await audit(tx, {
          target: ['chat', chatId],
          integrationId,
          consumerId,
          after: { aliasChatId: alias, consumerId },
        });
        // Read inside the transaction: after the commit the chat may have a new run, or be deleted.
        return chatJson(await chatRow(tx, wholeIntegration(integrationId), chatId), []);
      });
    return repeatOnConflict(create, imported.isConflict);
  }

  async get(scope: Scope, chatId: string) {
    return readChat(this.#store.reads, scope, chatId);
  }

  /**
   * Sets the title and the metadata and removes approvals, also while a run is active. `updatedAt` changes too, because callers that read the
   * changed chats with `updatedAfter` would otherwise keep the earlier title.
   */
  async update(integrationId: IntegrationId, chatId: string, change: ChatChange, audit: Audit) {
    const { title, metadata, approvals } = change;
    if (metadata !== undefined && metadata !== null) checkMetadata(metadata);
    return this.#store.transact('account', async (tx) => {
      await tx.all(lockChat, { integrationId, chatId });
      const chat = await chatRow(tx, wholeIntegration(integrationId), chatId);
      const before = labels(chatJson(chat, (await readApprovals(tx, [chat.chat_key]))(chat.chat_key)));
      if (approvals !== undefined) await keepApprovals(tx, chat.chat_key, approvals);
      await tx.run(updateChat, {
        chatKey: chat.chat_key,
        titleJson: title === undefined ? chat.title_json : jsonOrNull(title),
        metadataJson: metadata === undefined ? chat.metadata_json : jsonOrNull(metadata),
        now: Date.now(),
      });
      // Read inside the transaction: a later read could see another PATCH or a DELETE.
      const changed = await readChat(tx, wholeIntegration(integrationId), chatId);
      await audit(tx, {
        target: ['chat', chat.chat_id],
        integrationId,
        consumerId: chat.consumer_id,
        before,
        after: labels(changed),
      });
      return changed;
    });
  }

  /** Finds the chat of the member in which all these questions are open. Null if there is none. */
  async findAsking(asking: AskingMember, questionIds: readonly string[]): Promise<ChatId | null> {
    const unique = new Set(questionIds);
    if (unique.size === 0) return null;
    const rows = await this.#store.reads.query(chatsAsking(asking, [...unique]));
    const [chatId] = new Set(rows.map((row) => row.chat_id));
    return chatId !== undefined && rows.filter((row) => row.chat_id === chatId).length === unique.size ? chatId : null;
  }

  async list({ integrationId, member }: Scope, query: ChatQuery) {
    const { consumerId, status, updatedAfter, waiting, sort: order = 'created', q } = query;
    const listed = {
      member,
      ...(consumerId === undefined ? {} : { consumerId }),
      ...(status === undefined ? {} : { status }),
      ...(updatedAfter === undefined ? {} : { updatedAfter: Date.parse(updatedAfter) }),
      ...(waiting === undefined ? {} : { waiting }),
    };
    const words = q === undefined ? null : soughtWords(integrationId, q);
    const turns = this.#pages.turnsOf(query);
    const position = { ...toPage(query), order };
    const found = words === null ? null : await this.#search.chats(turns, integrationId, listed, words, position);
    const filter = found === null ? listed : { ...listed, chatKeys: jsonRows(found.ids.map((chat) => ({ chat }))) };
    const { reads } = this.#store;
    return this.#pages.read(query, {
      showsAll: true,
      sizes: (page) => reads.query(chatSizes(integrationId, filter, { ...page, order })),
      rows: async (page) => {
        const rows = await reads.query(listChats(integrationId, filter, { ...page, order }));
        const keys = rows.map((row) => row.chat_key);
        const getApprovals = await readApprovals(reads, keys);
        return rows.map((row): ListedChat => ({ row, approvals: getApprovals(row.chat_key) }));
      },
      readTo: () => found?.readTo ?? null,
      position: ({ row }) => ({ createdAt: order === 'updated' ? row.updated_at : row.created_at, id: row.chat_key }),
      show: chatItem,
    });
  }

  async messages(scope: Scope, requested: string, query: LargeListQuery) {
    const { reads } = this.#store;
    const { chat_key: chatKey, chat_id: chatId } = await chatRow(reads, scope, requested);
    return this.#pages.read(query, {
      showsAll: true,
      sizes: ({ before, limit }) => reads.all(messageSizes, { chatKey, before: numberBefore(before), limit }),
      rows: async ({ before, limit }) => {
        const rows = await reads.all(messagesBefore, { chatKey, before: numberBefore(before), limit });
        const runIds = rows.filter((row) => row.role === 'user').map((row) => row.run_id);
        const answered = rows.filter((row) => row.role === 'assistant').map((row) => row.run_id);
        const [all, calls, answers] = await Promise.all([
          runIds.length === 0 ? [] : reads.query(attachmentsOfRuns(chatKey, runIds)),
          readCalls(reads, answered),
          readAnswers(reads, runIds),
        ]);
        return rows.map((row): ShownMessage => {
          const { run_id: runId } = row;
          return row.role === 'user'
            ? {
                row,
                attachments: all.filter((one) => one.run_id === runId),
                calls: [],
                answers: answers.get(runId) ?? [],
              }
            : { row, attachments: [], calls: calls.get(runId) ?? [], answers: [] };
        });
      },
      position: ({ row }) => ({ createdAt: row.position, id: '' }),
      show: (message) => messageJson(chatId, message),
    });
  }

  /** The runs stay in the other chat, with their usage and charges. */
  async fork(integrationId: IntegrationId, requested: string, input: ForkRequest, audit: Audit) {
    return forkChat(this.#store, integrationId, requested, input, async (tx, chatId) => {
      // Read inside the transaction: after the commit the chat may have a new run, or be deleted.
      const chat = chatJson(await chatRow(tx, wholeIntegration(integrationId), chatId), []);
      const { consumerId, forkedFrom } = chat;
      await audit(tx, { target: ['chat', chatId], integrationId, consumerId, after: { forkedFrom } });
      return chat;
    });
  }

  /**
   * The id and the alias can be used again. Run rows, usage and usage request ids remain. The chats that it replaced and its
   * transient forks are deleted with it.
   */
  async delete(integrationId: IntegrationId, chatId: string, audit: Audit): Promise<void> {
    await this.#unindex(integrationId, chatId);
    const deleted = await this.#store.transact('account', async (tx) => {
      await tx.all(lockChat, { integrationId, chatId });
      const chat = await chatRow(tx, wholeIntegration(integrationId), chatId);
      const chatKeys = await chatsDeletedTogether(tx, chat.chat_key);
      for (const chatKey of chatKeys) await refuseIfActive(tx, chatKey);
      for (const chatKey of chatKeys) await deleteWholeChat(tx, chatKey, Date.now());
      await audit(tx, { target: ['chat', chat.chat_id], integrationId, consumerId: chat.consumer_id });
      return chatKeys;
    });
    for (const chatKey of deleted) this.#forgetTurns(chatKey);
  }

  async #unindex(integrationId: IntegrationId, chatId: string): Promise<void> {
    const { reads, kind } = this.#store;
    if (kind === 'postgres') return;
    const { chat_key: chatKey } = await chatRow(reads, wholeIntegration(integrationId), chatId);
    await refuseIfActive(reads, chatKey);
    await unindexEarly(this.#store, await chatsDeletedTogether(reads, chatKey));
  }
}

/** Returns the chat, the chats that it replaced and its transient forks. In a transaction the others are locked. */
async function chatsDeletedTogether(reads: Reads, chatKey: ChatKey): Promise<ChatKey[]> {
  const chatKeys = [chatKey];
  for (const key of chatKeys) {
    for (const { chat_key: other } of await reads.all(chatsDeletedWith, { chatKey: key })) {
      await reads.all(lockChatByKey, { chatKey: other });
      if (!chatKeys.includes(other)) chatKeys.push(other);
    }
  }
  return chatKeys;
}

/** Throws `run_active`. In a transaction that has locked the chat, no run begins before its end. */
export async function refuseIfActive(reads: Reads, chatKey: ChatKey): Promise<void> {
  const active = await first(reads.all(activeRunOfChat, { chatKey }));
  if (active === undefined) return;
  const { run_id: runId, usage_request_id: usageRequestId, chat_id: chatId } = active;
  throw new Refusal('run_active', undefined, { runId, usageRequestId, chatId });
}
