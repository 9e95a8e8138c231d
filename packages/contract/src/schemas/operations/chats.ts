import { Chat, ChatList, CreateChatRequest, MessageList } from '../chat.ts';
import { oneOfStrings, ref, time } from '../kit.ts';
import { bodyRefusals, integrationPath, integrationRefusals, operation, pageQuery, refusals } from '../operation.ts';
import { Type } from '../type.ts';

const integrationParams = Type.Object({ apiIntegrationId: Type.String() });
const chatParams = Type.Object({ apiIntegrationId: Type.String(), chatId: Type.String() });

export const createChat = operation({
  operationId: 'createChat',
  method: 'POST',
  path: `${integrationPath}/chats`,
  summary: 'Create a chat',
  tags: ['Chats'],
  auth: true,
  params: integrationParams,
  body: ref(CreateChatRequest),
  responses: {
    201: { description: 'The chat.', schema: ref(Chat) },
    ...integrationRefusals(),
    ...bodyRefusals(),
    ...refusals(409),
  },
});

export const listChats = operation({
  operationId: 'listChats',
  method: 'GET',
  path: `${integrationPath}/chats`,
  summary: 'List chats, newest first',
  tags: ['Chats'],
  auth: true,
  params: integrationParams,
  query: Type.Object({
    consumerId: Type.Optional(Type.String({ description: 'Chats of this member.' })),
    status: Type.Optional(oneOfStrings(['idle', 'running'])),
    updatedAfter: Type.Optional(time({ description: 'Chats that changed after this time.' })),
    ...pageQuery,
  }),
  responses: { 200: { description: 'A page of chats.', schema: ref(ChatList) }, ...integrationRefusals() },
});

export const getChat = operation({
  operationId: 'getChat',
  method: 'GET',
  path: `${integrationPath}/chats/:chatId`,
  summary: 'Read a chat',
  tags: ['Chats'],
  auth: true,
  params: chatParams,
  responses: { 200: { description: 'The chat.', schema: ref(Chat) }, ...integrationRefusals() },
});

export const listChatMessages = operation({
  operationId: 'listChatMessages',
  method: 'GET',
  path: `${integrationPath}/chats/:chatId/messages`,
  summary: 'List the messages of a chat, newest first',
  tags: ['Chats'],
  auth: true,
  params: chatParams,
  query: Type.Object(pageQuery),
  responses: { 200: { description: 'A page of messages.', schema: ref(MessageList) }, ...integrationRefusals() },
});

export const deleteChat = operation({
  operationId: 'deleteChat',
  method: 'DELETE',
  path: `${integrationPath}/chats/:chatId`,
  summary: 'Delete a chat; its runs and usage stay',
  tags: ['Chats'],
  auth: true,
  params: chatParams,
  responses: { 204: { description: 'The chat is deleted.' }, ...integrationRefusals(), ...refusals(409) },
});
