import { type Chats, chatJson } from '../chats/chats.ts';
import { Refusal } from '../domain/refusal.ts';
import type { RunReads } from './read-runs.ts';

export interface ChatStatusQuery {
  readonly usageRequestId?: string;
  readonly chatId?: string;
  readonly aliasChatId?: string;
}

/** "Asked by `usageRequestId`, `run` is that run; otherwise the newest, or null." */
export async function chatStatus(chats: Chats, runReads: RunReads, integrationId: string, query: ChatStatusQuery) {
  const given = Object.values(query).filter((value) => value !== undefined);
  if (given.length !== 1) {
    throw new Refusal('invalid_request', 'Give exactly one of `usageRequestId`, `chatId` and `aliasChatId`.');
  }
  if (query.usageRequestId !== undefined) {
    const run = await runReads.byUsageRequest(integrationId, query.usageRequestId);
    const chat = run === undefined ? undefined : await chats.byKey(run.chat_key);
    if (run === undefined || chat === undefined) {
      throw new Refusal(
        'run_not_found',
        'No run has this `usageRequestId`: nothing is reserved yet; send the request again with the same id.',
      );
    }
    const { createdAt, updatedAt, numMessages, ...rest } = chatJson(chat);
    return {
      ...rest,
      chatDeleted: chat.deleted_at !== null,
      numMessages,
      createdAt,
      updatedAt,
      run: await runReads.statusRun(run),
    };
  }
  const chat =
    query.chatId !== undefined
      ? await chats.row(integrationId, query.chatId)
      : await chats.rowByAlias(integrationId, query.aliasChatId ?? '');
  const run = await runReads.newestOfChat(chat.chat_key);
  const { createdAt, updatedAt, numMessages, ...rest } = chatJson(chat);
  return {
    ...rest,
    chatDeleted: false,
    numMessages,
    createdAt,
    updatedAt,
    run: run === undefined ? null : await runReads.statusRun(run),
  };
}
