import { operations } from '@runwire/contract/schemas';
import type { FastifyInstance } from 'fastify';
import type { IntegrationOwnership } from '../../accounts/owned-integration.ts';
import type { Chats } from '../../chats/chats.ts';
import { ownersQuery, route } from '../route.ts';

export function chatRoutes(app: FastifyInstance, ownership: IntegrationOwnership, chats: Chats): void {
  route(app, operations.createChat, async (request, reply) => {
    const { apiIntegrationId } = request.params;
    await ownership.check(request.principal, apiIntegrationId);
    return reply.code(201).send(await chats.create(apiIntegrationId, request.body));
  });

  route(app, operations.listChats, async (request) => {
    const { apiIntegrationId } = request.params;
    const scope = await ownership.scope(request, apiIntegrationId);
    return chats.list(scope, ownersQuery(request));
  });

  route(app, operations.getChat, async (request) => {
    const { apiIntegrationId, chatId } = request.params;
    const scope = await ownership.scope(request, apiIntegrationId);
    return chats.get(scope, chatId);
  });

  route(app, operations.updateChat, async (request) => {
    const { apiIntegrationId, chatId } = request.params;
    await ownership.check(request.principal, apiIntegrationId);
    return chats.update(apiIntegrationId, chatId, request.body);
  });

  route(app, operations.listChatMessages, async (request) => {
    const { apiIntegrationId, chatId } = request.params;
    const scope = await ownership.scope(request, apiIntegrationId);
    return chats.messages(scope, chatId, ownersQuery(request));
  });

  route(app, operations.deleteChat, async (request, reply) => {
    const { apiIntegrationId, chatId } = request.params;
    await ownership.check(request.principal, apiIntegrationId);
    await chats.delete(apiIntegrationId, chatId);
    return reply.code(204).send();
  });
}
