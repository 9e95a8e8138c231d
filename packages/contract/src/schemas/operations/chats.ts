import {
  Chat,
  ChatList,
  ChatState,
  CreateChatRequest,
  chatStatus,
  ForkChatRequest,
  MessageList,
  UpdateChatRequest,
} from '../chat.ts';
import { flag, oneOfStrings, ref, text, time } from '../kit.ts';
import {
  bodyRefusals,
  integrationParams,
  integrationPath,
  integrationRefusals,
  operation,
  pageQuery,
  refusals,
  searchWords,
} from '../operation.ts';
import { Type } from '../type.ts';
import { chat, integrationExample, json, message, page } from './examples.ts';

const chatParams = Type.Object({ ...integrationParams, chatId: text('Identifier of the chat.') });
const chatExample = { ...integrationExample, chatId: 'c1' };

export const createChat = operation({
  operationId: 'createChat',
  method: 'POST',
  path: `${integrationPath}/chats`,
  summary: 'Create a chat',
  tags: ['Chats'],
  auth: true,
  params: Type.Object(integrationParams),
  body: ref(CreateChatRequest),
  example: {
    params: integrationExample,
    body: { chatId: 'c1', consumerId: 'user-42' },
    status: 201,
    answer: json({ ...chat, numMessages: 0 }),
  },
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
  clientToken: 'read',
  params: Type.Object(integrationParams),
  query: Type.Object({
    consumerId: Type.Optional(text('Only chats of this member.')),
    status: Type.Optional(chatStatus('Only chats in this state.')),
    updatedAfter: Type.Optional(time('Only chats that changed after this time.')),
    waiting: Type.Optional(flag('If true, only chats with open questions. If false, only chats without.')),
    sort: Type.Optional(
      oneOfStrings(['created', 'updated'], { description: 'By creation (the default), or by the last change.' }),
    ),
    q: Type.Optional(searchWords()),
    ...pageQuery,
  }),
  example: {
    params: integrationExample,
    query: { consumerId: 'user-42', status: 'idle', waiting: false, sort: 'updated', q: 'refund', limit: 50 },
    status: 200,
    answer: page(chat),
  },
  responses: { 200: { description: 'A page of chats.', schema: ref(ChatList) }, ...integrationRefusals() },
});

export const getChat = operation({
  operationId: 'getChat',
  method: 'GET',
  path: `${integrationPath}/chats/:chatId`,
  summary: 'Read a chat',
  tags: ['Chats'],
  auth: true,
  clientToken: 'read',
  params: chatParams,
  example: { params: chatExample, status: 200, answer: json(chat) },
  responses: { 200: { description: 'The chat.', schema: ref(Chat) }, ...integrationRefusals() },
});

export const updateChat = operation({
  operationId: 'updateChat',
  method: 'PATCH',
  path: `${integrationPath}/chats/:chatId`,
  summary: 'Set the title and the metadata of a chat',
  description:
    'Fields that the request omits keep their values; null removes a value. `metadata` is replaced as a whole. The request ' +
    'also sets `updatedAt`, so that `GET …/chats?updatedAfter=` finds renamed chats.',
  tags: ['Chats'],
  auth: true,
  params: chatParams,
  body: ref(UpdateChatRequest),
  example: {
    params: chatExample,
    body: { title: 'A trip to Rome', metadata: { folder: 'travel' } },
    status: 200,
    answer: json({ ...chat, title: 'A trip to Rome', metadata: { folder: 'travel' } }),
  },
  responses: { 200: { description: 'The chat.', schema: ref(Chat) }, ...integrationRefusals(), ...bodyRefusals() },
});

const stateExample = { cart: ['pen'], plan: 'pro' };

export const getChatState = operation({
  operationId: 'getChatState',
  method: 'GET',
  path: `${integrationPath}/chats/:chatId/state`,
  summary: 'Read what tools keep in a chat',
  description: 'While a run is active, the state has the changes of the steps that have finished.',
  tags: ['Chats'],
  auth: true,
  params: chatParams,
  example: { params: chatExample, status: 200, answer: json(stateExample) },
  responses: { 200: { description: 'The state.', schema: ref(ChatState) }, ...integrationRefusals() },
});

export const updateChatState = operation({
  operationId: 'updateChatState',
  method: 'PATCH',
  path: `${integrationPath}/chats/:chatId/state`,
  summary: 'Change what tools keep in a chat',
  description:
    'The body is a JSON merge patch (RFC 7396): a value replaces one, an object changes the members that it has, null removes a ' +
    'member. While a run is active, the answer is 409 `run_active`.',
  tags: ['Chats'],
  auth: true,
  params: chatParams,
  body: ref(ChatState),
  bodyField: 'patch',
  example: {
    params: chatExample,
    body: { plan: 'pro', coupon: null },
    status: 200,
    answer: json(stateExample),
  },
  responses: {
    200: { description: 'The state after the change.', schema: ref(ChatState) },
    ...integrationRefusals(),
    ...bodyRefusals(),
    ...refusals(409),
  },
});

export const forkChat = operation({
  operationId: 'forkChat',
  method: 'POST',
  path: `${integrationPath}/chats/:fromChatId/fork`,
  summary: 'Fork a chat: make a new one from its beginning',
  description:
    'The new chat has all messages, attachments and announced files up to and including `runId`, and belongs to the same ' +
    'member. Its messages name their original runs, which keep their usage. If the last of these runs asked, its questions ' +
    'are open in the new chat, with new ids.',
  tags: ['Chats'],
  auth: true,
  // The body names the new chat by `chatId`, and clients take path and body in one object.
  params: Type.Object({ ...integrationParams, fromChatId: text('Identifier of the chat that is forked.') }),
  body: ref(ForkChatRequest),
  bodyOptional: true,
  example: {
    params: { ...integrationExample, fromChatId: 'c1' },
    body: { runId: 'run_1' },
    status: 201,
    answer: json({ ...chat, chatId: 'chat_2', forkedFrom: { chatId: 'c1', runId: 'run_1' } }),
  },
  responses: {
    201: { description: 'The new chat.', schema: ref(Chat) },
    ...integrationRefusals(),
    ...bodyRefusals(),
    ...refusals(409),
  },
});

export const listChatMessages = operation({
  operationId: 'listChatMessages',
  method: 'GET',
  path: `${integrationPath}/chats/:chatId/messages`,
  summary: 'List the messages of a chat, newest first',
  tags: ['Chats'],
  auth: true,
  clientToken: 'read',
  params: chatParams,
  query: Type.Object(pageQuery),
  example: { params: chatExample, query: { limit: 50 }, status: 200, answer: page(message) },
  responses: { 200: { description: 'A page of messages.', schema: ref(MessageList) }, ...integrationRefusals() },
});

export const deleteChat = operation({
  operationId: 'deleteChat',
  method: 'DELETE',
  path: `${integrationPath}/chats/:chatId`,
  summary: 'Delete a chat; its runs and usage records are kept',
  tags: ['Chats'],
  auth: true,
  params: chatParams,
  example: { params: chatExample, status: 204 },
  responses: { 204: { description: 'The chat was deleted.' }, ...integrationRefusals(), ...refusals(409) },
});
