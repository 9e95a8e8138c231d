import { createChat } from '../../../../admission/create-chat.ts';
import { notAudited } from '../../../../audit/audit.ts';
import { historyProblem } from '../../../../domain/chat/imported-turn.ts';
import { Refusal } from '../../../../domain/refusal.ts';
import { ownersQuery } from '../../../route.ts';
import type { CompatibleDeps } from '../../compatible-deps.ts';
import type { CompatibleCall } from '../../compatible-route.ts';
import { headerConsumer } from '../../compatible-starts.ts';
import { Fields } from '../../fields.ts';
import { noteIgnored, readMetadata } from '../openai-fields.ts';
import { readItems } from '../responses/read-input.ts';

/* A conversation is a chat. */

type Chat = Awaited<ReturnType<CompatibleDeps['chats']['get']>>;

const conversationJson = ({ chatId, createdAt, metadata }: Chat) => ({
  id: chatId,
  object: 'conversation',
  created_at: Math.floor(Date.parse(createdAt ?? '') / 1000),
  metadata: metadata ?? {},
});

/** `POST /conversations`: a chat, with the items as its history. */
export async function createConversation(deps: CompatibleDeps, call: CompatibleCall) {
  const body = Fields.of(call.request.body ?? {});
  const metadata = readMetadata(body);
  const history = readItems(body, 'items', call.parts);
  const problem = historyProblem(history);
  if (problem !== null) throw new Refusal('invalid_request', problem);
  const { integrationId } = call.scope;
  noteIgnored(body, call);
  const consumerId = headerConsumer(call.request);
  const audit = deps.app.audit(call.request);
  const chat = await createChat(deps, integrationId, { consumerId }, history, audit);
  if (metadata === null) return conversationJson(chat);
  // Part of the creation, which has an event already.
  return conversationJson(await deps.chats.update(integrationId, chat.chatId, { metadata }, notAudited));
}

const conversationId = ({ request }: Pick<CompatibleCall, 'request'>): string =>
  (request.params as { readonly conversationId: string }).conversationId;

/** `GET /conversations/{id}`. */
export async function getConversation({ chats }: CompatibleDeps, call: CompatibleCall) {
  return conversationJson(await chats.get(call.scope, conversationId(call)));
}

/** `POST /conversations/{id}`: replaces the metadata. */
export async function updateConversation({ app, chats }: CompatibleDeps, call: CompatibleCall) {
  const body = Fields.of(call.request.body);
  const metadata = readMetadata(body);
  if (!body.has('metadata')) throw new Refusal('invalid_request', '`metadata` is missing.');
  noteIgnored(body, call);
  const audit = app.audit(call.request);
  return conversationJson(await chats.update(call.scope.integrationId, conversationId(call), { metadata }, audit));
}

/** `DELETE /conversations/{id}`: deletes the chat and its messages. */
export async function deleteConversation({ app, chats }: CompatibleDeps, call: CompatibleCall) {
  const id = conversationId(call);
  await chats.delete(call.scope.integrationId, id, app.audit(call.request));
  return { id, object: 'conversation.deleted', deleted: true };
}

const MAX_MESSAGES = 100;

/** `GET /conversations/{id}/items`: the messages, the newest first. */
export async function listConversationItems({ chats }: CompatibleDeps, call: CompatibleCall) {
  const { limit: asked, order, after } = call.request.query as Readonly<Record<string, string | undefined>>;
  const limit = Math.min(Math.max(Number(asked ?? 20), 1), MAX_MESSAGES);
  if (order === 'asc')
    throw new Refusal('invalid_request', '`order` must be `desc`: a conversation is read from its end.');
  const query = { ...ownersQuery(call.request), limit, ...(after === undefined ? {} : { cursor: after }) };
  const page = await chats.messages(call.scope, conversationId(call), query);
  const { items: data, nextCursor } = JSON.parse(String(page.json)) as { items: Message[]; nextCursor: string | null };
  page.onSent();
  const items = data.map(messageItem);
  return {
    object: 'list',
    data: items,
    first_id: items[0]?.id ?? null,
    last_id: nextCursor,
    has_more: nextCursor !== null,
  };
}

interface Message {
  readonly messageId: string;
  readonly role: 'user' | 'assistant';
  readonly status: string;
  readonly content: string;
  readonly attachments: readonly object[];
}

function messageItem({ messageId, role, status, content, attachments }: Message) {
  const about = { id: messageId, type: 'message', role, status: status === 'running' ? 'in_progress' : 'completed' };
  if (role === 'assistant') return { ...about, content: [{ type: 'output_text', text: content, annotations: [] }] };
  const text = content === '' ? [] : [{ type: 'input_text', text: content }];
  return { ...about, content: [...text, ...attachments] };
}
