import { shortChatJson } from '../chats/chats.ts';
import type { ErasedIds } from '../domain/account/erased-ids.ts';
import { isVisible, type Scope } from '../domain/account/scope.ts';
import { Refusal } from '../domain/refusal.ts';
import { type ChatStatusRow, statusOfAlias, statusOfChat, statusOfRun } from '../store/queries/chat-status.ts';
import { first, type Reads } from '../store/store.ts';
import { type StatusRow, statusRunJson } from './run-json.ts';

export interface ChatStatusQuery {
  readonly usageRequestId?: string;
  readonly chatId?: string;
  readonly aliasChatId?: string;
}

/** `run` is the run of the given `usageRequestId`, otherwise the newest run, or null. Chat and run are of one snapshot. */
export async function chatStatus(
  reads: Reads,
  ids: ErasedIds,
  scope: Scope,
  query: ChatStatusQuery,
  lastEventId: (run: StatusRow) => number,
) {
  const row = await statusRow(reads, ids, scope, query);
  const { createdAt, updatedAt, numMessages, ...rest } = shortChatJson({
    chat_key: row.chat_chat_key,
    chat_id: row.chat_id,
    alias: row.chat_alias,
    integration_id: row.chat_integration_id,
    consumer_id: row.chat_consumer_id,
    num_messages: row.chat_num_messages,
    created_at: row.chat_created_at,
    updated_at: row.chat_updated_at,
    deleted_at: row.chat_deleted_at,
    questions_json: row.chat_questions_json,
    active_run_id: row.active_run_id,
    active_usage_request_id: row.active_usage_request_id,
  });
  return {
    ...rest,
    chatDeleted: row.chat_deleted_at !== null,
    numMessages,
    createdAt,
    updatedAt,
    run: hasRun(row) ? statusRunJson(row, lastEventId(row)) : null,
  };
}

const hasRun = (row: ChatStatusRow): row is ChatStatusRow & StatusRow => row.run_id !== null;

async function statusRow(
  reads: Reads,
  ids: ErasedIds,
  { integrationId, member }: Scope,
  query: ChatStatusQuery,
): Promise<ChatStatusRow> {
  const { usageRequestId, chatId, aliasChatId } = query;
  const isSeen = (row: ChatStatusRow | undefined): row is ChatStatusRow =>
    row !== undefined && isVisible(member, row.chat_consumer_id, row.chat_id);
  const given = [usageRequestId, chatId, aliasChatId].filter((value) => value !== undefined);
  if (given.length !== 1) {
    throw new Refusal('invalid_request', 'Send exactly one of `usageRequestId`, `chatId` and `aliasChatId`.');
  }
  if (usageRequestId !== undefined) {
    const erasedUsageRequestId = ids.usageRequest(integrationId, usageRequestId);
    const row = await first(reads.all(statusOfRun, { integrationId, usageRequestId, erasedUsageRequestId }));
    if (isSeen(row)) return row;
    throw new Refusal(
      'run_not_found',
      'No run has this `usageRequestId`: nothing is reserved yet; send the request again with the same id.',
    );
  }
  const row =
    chatId !== undefined
      ? await first(reads.all(statusOfChat, { integrationId, chatId }))
      : await first(reads.all(statusOfAlias, { integrationId, alias: aliasChatId ?? '' }));
  if (isSeen(row)) return row;
  const sentence =
    chatId !== undefined ? 'This integration has no such chat.' : 'This integration has no chat with this alias.';
  throw new Refusal('chat_not_found', sentence);
}
