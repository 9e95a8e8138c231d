import { operations } from '@runwire/contract/schemas';
import type { FetchAllow } from '@runwire/guarded-fetch/url-rules';
import type { FastifyInstance } from 'fastify';
import { type CreateChatDeps, createChat } from '../../admission/create-chat.ts';
import type { ChatStates } from '../../chats/chat-states.ts';
import { NO_FILES } from '../body/inline-files.ts';
import { requestHistory } from '../body/request-history.ts';
import { ownersQuery, route } from '../route.ts';

export interface ChatRoutesDeps extends CreateChatDeps {
  readonly states: ChatStates;
  readonly fetchAllow: FetchAllow;
}

export function chatRoutes(app: FastifyInstance, { chats, blobs, states, fetchAllow }: ChatRoutesDeps): void {
  route(app, operations.createChat, async (request, reply, { integrationId }) => {
    const { history, ...fields } = request.body;
    const turns = requestHistory(history, request.inlineFiles ?? NO_FILES, fetchAllow);
    const chat = await createChat({ chats, blobs }, integrationId, fields, turns, app.audit(request));
    request.inlineFiles?.release();
    return reply.code(201).send(chat);
  });

  route(app, operations.listChats, async (request, _reply, scope) => chats.list(scope, ownersQuery(request)));

  route(app, operations.getChat, async (request, _reply, scope) => {
    const { chatId } = request.params;
    return chats.get(scope, chatId);
  });

  route(app, operations.updateChat, async (request, _reply, { integrationId }) => {
    const { chatId } = request.params;
    return chats.update(integrationId, chatId, request.body, app.audit(request));
  });

  route(app, operations.getChatState, async (request, _reply, scope) => states.get(scope, request.params.chatId));

  route(app, operations.updateChatState, async (request, _reply, { integrationId }) => {
    const { chatId } = request.params;
    return states.patch(integrationId, chatId, request.body, app.audit(request));
  });

  route(app, operations.forkChat, async (request, reply, { integrationId }) => {
    const { fromChatId } = request.params;
    return reply.code(201).send(await chats.fork(integrationId, fromChatId, request.body, app.audit(request)));
  });

  route(app, operations.listChatMessages, async (request, _reply, scope) => {
    const { chatId } = request.params;
    return chats.messages(scope, chatId, ownersQuery(request));
  });

  route(app, operations.deleteChat, async (request, reply, { integrationId }) => {
    const { chatId } = request.params;
    await chats.delete(integrationId, chatId, app.audit(request));
    return reply.code(204).send();
  });
}
