import type { Operations } from '@runwire/contract';
import { List, type Page } from './list.ts';
import type { AnswerOf, CallOptions, OperationOf, Route, Transport } from './transport.ts';

/** The API's operations by resource and method. `Route` has exactly the contract's routes. */
export const RESOURCES = {
  runs: {
    list: 'GET /v2/integrations/:apiIntegrationId/runs',
    get: 'GET /v2/integrations/:apiIntegrationId/runs/:runId',
    steps: 'GET /v2/integrations/:apiIntegrationId/runs/:runId/steps',
    prompt: 'GET /v2/integrations/:apiIntegrationId/runs/:runId/steps/:step/prompt',
    attachment: 'GET /v2/integrations/:apiIntegrationId/runs/:runId/attachments/:attachmentId',
    cancel: 'POST /v2/integrations/:apiIntegrationId/runs/:runId/cancel',
    compare: 'GET /v2/integrations/:apiIntegrationId/runs/:runId/compare',
  },
  chats: {
    create: 'POST /v2/integrations/:apiIntegrationId/chats',
    list: 'GET /v2/integrations/:apiIntegrationId/chats',
    get: 'GET /v2/integrations/:apiIntegrationId/chats/:chatId',
    update: 'PATCH /v2/integrations/:apiIntegrationId/chats/:chatId',
    fork: 'POST /v2/integrations/:apiIntegrationId/chats/:fromChatId/fork',
    delete: 'DELETE /v2/integrations/:apiIntegrationId/chats/:chatId',
    messages: 'GET /v2/integrations/:apiIntegrationId/chats/:chatId/messages',
    status: 'GET /v2/integrations/:apiIntegrationId/chat_status',
  },
  questions: {
    list: 'GET /v2/questions',
    answer: 'POST /v2/integrations/:apiIntegrationId/chats/:chatId/answers',
  },
  members: {
    put: 'PUT /v2/integrations/:apiIntegrationId/members/:consumerId',
    list: 'GET /v2/integrations/:apiIntegrationId/members',
    get: 'GET /v2/integrations/:apiIntegrationId/members/:consumerId',
    delete: 'DELETE /v2/integrations/:apiIntegrationId/members/:consumerId',
    erasure: 'GET /v2/integrations/:apiIntegrationId/members/:consumerId/erasure',
    adjust: 'POST /v2/integrations/:apiIntegrationId/members/:consumerId/adjustments',
    adjustments: 'GET /v2/integrations/:apiIntegrationId/members/:consumerId/adjustments',
  },
  schedules: {
    create: 'POST /v2/integrations/:apiIntegrationId/schedules',
    list: 'GET /v2/integrations/:apiIntegrationId/schedules',
    get: 'GET /v2/integrations/:apiIntegrationId/schedules/:scheduleId',
    update: 'PATCH /v2/integrations/:apiIntegrationId/schedules/:scheduleId',
    delete: 'DELETE /v2/integrations/:apiIntegrationId/schedules/:scheduleId',
    run: 'POST /v2/integrations/:apiIntegrationId/schedules/:scheduleId/run',
    ticks: 'GET /v2/integrations/:apiIntegrationId/schedules/:scheduleId/ticks',
  },
  usage: {
    list: 'GET /v2/integrations/:apiIntegrationId/usage',
    summary: 'GET /v2/integrations/:apiIntegrationId/usage/summary',
    csv: 'GET /v2/integrations/:apiIntegrationId/usage',
    latency: 'GET /v2/integrations/:apiIntegrationId/latency',
  },
  overview: { get: 'GET /v2/overview' },
  files: {
    list: 'GET /v2/integrations/:apiIntegrationId/files',
    delete: 'DELETE /v2/integrations/:apiIntegrationId/files',
    content: 'GET /v2/integrations/:apiIntegrationId/files/content',
    head: 'HEAD /v2/integrations/:apiIntegrationId/files/content',
  },
  integrations: {
    create: 'POST /v2/integrations',
    list: 'GET /v2/integrations',
    get: 'GET /v2/integrations/:apiIntegrationId',
    update: 'PATCH /v2/integrations/:apiIntegrationId',
    delete: 'DELETE /v2/integrations/:apiIntegrationId',
  },
  webhooks: {
    create: 'POST /v2/integrations/:apiIntegrationId/webhooks',
    list: 'GET /v2/integrations/:apiIntegrationId/webhooks',
    get: 'GET /v2/integrations/:apiIntegrationId/webhooks/:endpointId',
    update: 'PATCH /v2/integrations/:apiIntegrationId/webhooks/:endpointId',
    delete: 'DELETE /v2/integrations/:apiIntegrationId/webhooks/:endpointId',
    rotate: 'POST /v2/integrations/:apiIntegrationId/webhooks/:endpointId/rotate',
    test: 'POST /v2/integrations/:apiIntegrationId/webhooks/:endpointId/test',
    replay: 'POST /v2/integrations/:apiIntegrationId/webhooks/:endpointId/replay',
    deliveries: 'GET /v2/integrations/:apiIntegrationId/webhooks/:endpointId/deliveries',
    delivery: 'GET /v2/integrations/:apiIntegrationId/webhooks/:endpointId/deliveries/:deliveryId',
    redeliver: 'POST /v2/integrations/:apiIntegrationId/webhooks/:endpointId/deliveries/:deliveryId/redeliver',
  },
  tokens: { create: 'POST /v2/integrations/:apiIntegrationId/client_tokens' },
  keys: { create: 'POST /v2/api_keys', list: 'GET /v2/api_keys', revoke: 'DELETE /v2/api_keys/:keyId' },
  owners: { create: 'POST /v2/owners', list: 'GET /v2/owners', delete: 'DELETE /v2/owners/:ownerId' },
  people: {
    create: 'POST /v2/people',
    list: 'GET /v2/people',
    get: 'GET /v2/people/:personId',
    update: 'PATCH /v2/people/:personId',
    delete: 'DELETE /v2/people/:personId',
  },
  audit: { list: 'GET /v2/audit', csv: 'GET /v2/audit' },
  agencies: { list: 'GET /v2/agencies', definition: 'GET /v2/agencies/:agency/definition' },
  nodes: { list: 'GET /v2/nodes', metrics: 'GET /metrics' },
  me: { get: 'GET /v2/me', update: 'PATCH /v2/me' },
} as const satisfies Record<string, Record<string, Route>>;

/** Path, query and body of an operation in one object. `apiIntegrationId` defaults to the `integration` of the client. */
export type Input<R extends Route> = Omit<
  Operations[OperationOf<R>]['input'],
  'apiIntegrationId' | 'cursor' | 'format'
> & { apiIntegrationId?: string | undefined };

/** Methods that resolve to the answer itself: bytes, or headers. */
type RawVerb = 'content' | 'attachment' | 'head' | 'metrics' | 'csv';
const RAW_VERBS = /^(content|attachment|head|metrics|csv)$/;
const LIST_VERBS = /^(list|steps|messages|adjustments|summary|deliveries|ticks)$/;

type Answer<Verb, R extends Route> = Verb extends RawVerb
  ? Promise<Response>
  : AnswerOf<R> extends Page<unknown>
    ? List<AnswerOf<R>['items'][number], AnswerOf<R>>
    : Promise<AnswerOf<R>>;

type Method<Verb, R extends Route> =
  Partial<Input<R>> extends Input<R>
    ? (input?: Input<R>, options?: CallOptions) => Answer<Verb, R>
    : (input: Input<R>, options?: CallOptions) => Answer<Verb, R>;

type Resources = typeof RESOURCES;
export type Api = {
  readonly [Name in keyof Resources]: {
    readonly [Verb in keyof Resources[Name]]: Resources[Name][Verb] extends Route
      ? Method<Verb, Resources[Name][Verb]>
      : never;
  };
};

function method(transport: Transport, verb: string, route: Route) {
  return (input: Readonly<Record<string, unknown>> = {}, options: CallOptions = {}) => {
    const format = verb === 'csv' ? verb : undefined;
    // Such a body has no limit: it may be a large file that the caller reads slowly.
    if (RAW_VERBS.test(verb)) return transport.call(route, { ...input, format }, options, (answer) => answer);
    if (!LIST_VERBS.test(verb)) return transport.json(route, input, options);
    return new List((cursor) => transport.json(route, { ...input, cursor }, options) as Promise<Page<unknown>>);
  };
}

export function createApi(transport: Transport): Api {
  const entries = Object.entries(RESOURCES).map(([name, verbs]) => [
    name,
    Object.fromEntries(Object.entries(verbs).map(([verb, route]) => [verb, method(transport, verb, route)])),
  ]);
  return Object.fromEntries(entries);
}
