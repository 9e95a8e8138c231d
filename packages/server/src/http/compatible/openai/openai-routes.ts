import { Type } from 'typebox';
import type { CompatibleDeps } from '../compatible-deps.ts';
import { type CompatibleHandler, type CompatibleOperation, compatibleRoute } from '../compatible-route.ts';
import { createChatCompletion } from './chat-completions/chat-completions.ts';
import {
  createConversation,
  deleteConversation,
  getConversation,
  listConversationItems,
  updateConversation,
} from './conversations/conversations.ts';
import { getModel, listModels } from './models.ts';
import { OPENAI } from './openai-api.ts';
import { createResponse } from './responses/create-response.ts';
import { listInputItems } from './responses/input-items.ts';
import { cancelResponse, deleteResponse, getResponse } from './responses/read-response.ts';

const text = () => Type.Optional(Type.String());
/** May be sent several times. */
const list = () => Type.Optional(Type.Array(Type.String()));

/** `include` and `include_obfuscation` are not used. */
const ResponseQuery = Type.Object({
  stream: text(),
  starting_after: Type.Optional(Type.Integer()),
  include: list(),
  'include[]': list(),
  include_obfuscation: text(),
});

const ListQuery = Type.Object({
  limit: Type.Optional(Type.Integer()),
  order: text(),
  after: text(),
  include: list(),
  'include[]': list(),
});

/** Registers Responses, Conversations, Chat Completions and Models. */
export function openaiRoutes(deps: CompatibleDeps): void {
  const add = (operation: CompatibleOperation, handler: CompatibleHandler) =>
    compatibleRoute(deps, OPENAI, operation, handler);
  const response = '/responses/:responseId';
  add(
    { operationId: 'openaiCreateResponse', method: 'POST', path: '/responses', clientToken: 'run', startsRuns: true },
    (call) => createResponse(deps, call),
  );
  add(
    { operationId: 'openaiGetResponse', method: 'GET', path: response, clientToken: 'read', query: ResponseQuery },
    (call) => getResponse(deps, call),
  );
  add({ operationId: 'openaiCancelResponse', method: 'POST', path: `${response}/cancel`, clientToken: 'run' }, (call) =>
    cancelResponse(deps, call),
  );
  add({ operationId: 'openaiDeleteResponse', method: 'DELETE', path: response }, (call) => deleteResponse(deps, call));
  add(
    { operationId: 'openaiListInputItems', method: 'GET', path: `${response}/input_items`, query: ListQuery },
    (call) => listInputItems(deps, call),
  );
  conversations(deps, add);
  add(
    {
      operationId: 'openaiCreateChatCompletion',
      method: 'POST',
      path: '/chat/completions',
      clientToken: 'run',
      startsRuns: true,
    },
    (call) => createChatCompletion(deps, call),
  );
  add({ operationId: 'openaiListModels', method: 'GET', path: '/models' }, async (call) => listModels(deps, call));
  add({ operationId: 'openaiGetModel', method: 'GET', path: '/models/:model' }, async (call) => getModel(deps, call));
}

type Add = (operation: CompatibleOperation, handler: CompatibleHandler) => void;

function conversations(deps: CompatibleDeps, add: Add): void {
  const path = '/conversations/:conversationId';
  add({ operationId: 'openaiCreateConversation', method: 'POST', path: '/conversations' }, (call) =>
    createConversation(deps, call),
  );
  add({ operationId: 'openaiGetConversation', method: 'GET', path, clientToken: 'read' }, (call) =>
    getConversation(deps, call),
  );
  add({ operationId: 'openaiUpdateConversation', method: 'POST', path }, (call) => updateConversation(deps, call));
  add({ operationId: 'openaiDeleteConversation', method: 'DELETE', path }, (call) => deleteConversation(deps, call));
  add({ operationId: 'openaiListConversationItems', method: 'GET', path: `${path}/items`, query: ListQuery }, (call) =>
    listConversationItems(deps, call),
  );
}
