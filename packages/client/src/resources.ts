import type { Operations } from '@runwire/contract';
import * as routes from '@runwire/contract/routes';
import { List, type Page } from './list.ts';
import type { AnswerOf, CallOptions, OperationOf, Route, Transport } from './transport.ts';

/** The operations of the API by resource and method. */
const RESOURCES = {
  runs: { list: routes.listRuns, get: routes.getRun, steps: routes.listRunSteps, cancel: routes.cancelRun },
  chats: {
    create: routes.createChat,
    list: routes.listChats,
    get: routes.getChat,
    update: routes.updateChat,
    delete: routes.deleteChat,
    messages: routes.listChatMessages,
    status: routes.getChatStatus,
  },
  members: {
    put: routes.putMember,
    list: routes.listMembers,
    get: routes.getMember,
    delete: routes.deleteMember,
    erasure: routes.getErasure,
    adjust: routes.createAdjustment,
    adjustments: routes.listAdjustments,
  },
  usage: { list: routes.listUsage, summary: routes.summariseUsage, csv: routes.listUsage },
  files: {
    list: routes.listFiles,
    delete: routes.deleteFile,
    content: routes.getFileContent,
    head: routes.headFileContent,
  },
  integrations: {
    create: routes.createIntegration,
    list: routes.listIntegrations,
    get: routes.getIntegration,
    update: routes.updateIntegration,
    delete: routes.deleteIntegration,
  },
  tokens: { create: routes.createClientToken },
  keys: { create: routes.createApiKey, list: routes.listApiKeys, revoke: routes.revokeApiKey },
  owners: { create: routes.createOwner, list: routes.listOwners, delete: routes.deleteOwner },
  agencies: { list: routes.listAgencies },
  nodes: { list: routes.listNodes, metrics: routes.getMetrics },
  me: { get: routes.getMe, update: routes.updateMe },
} as const satisfies Record<string, Record<string, Route>>;

/** Path, query and body of an operation in one object. `apiIntegrationId` defaults to the `integration` of the client. */
export type Input<R extends Route> = Omit<
  Operations[OperationOf<R>]['input'],
  'apiIntegrationId' | 'cursor' | 'format'
> & { apiIntegrationId?: string };

/** Methods that resolve to the answer itself: bytes, or headers. */
type RawVerb = 'content' | 'head' | 'metrics' | 'csv';
const RAW_VERBS = /^(content|head|metrics|csv)$/;
const LIST_VERBS = /^(list|steps|messages|adjustments|summary)$/;

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
    if (RAW_VERBS.test(verb)) return transport.call(route, { ...input, format }, options);
    if (!LIST_VERBS.test(verb)) return transport.json(route, input, options);
    return new List((cursor) => transport.json(route, { ...input, cursor }, options) as Promise<Page<unknown>>);
  };
}

export function apiOf(transport: Transport): Api {
  const entries = Object.entries(RESOURCES).map(([name, verbs]) => [
    name,
    Object.fromEntries(Object.entries(verbs).map(([verb, route]) => [verb, method(transport, verb, route)])),
  ]);
  return Object.fromEntries(entries);
}
