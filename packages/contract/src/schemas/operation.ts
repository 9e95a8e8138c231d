import type { Static, TSchema, TUnsafe } from 'typebox';
import { ApiErrorResponse } from './error.ts';
import { ref } from './kit.ts';
import { Type } from './type.ts';

export interface OperationResponse {
  readonly description: string;
  /** Absent: no body. */
  readonly schema?: TSchema;
  /** Absent: `application/json`. */
  readonly contentTypes?: readonly string[];
  /** Further media types whose content has a shape of its own. */
  readonly otherContent?: { readonly [contentType: string]: TSchema };
  readonly headers?: { readonly [name: string]: TSchema };
}

export interface Operation {
  readonly operationId: string;
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As Fastify writes it: `/v2/integrations/:apiIntegrationId`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  /** False: answers without a key. */
  readonly auth: boolean;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly headers?: TSchema;
  readonly body?: TSchema;
  /** True: the request may have no body at all. */
  readonly bodyOptional?: true;
  readonly responses: { readonly [status: number]: OperationResponse };
}

/** Adds the answers and headers that every operation has. */
export function operation<const T extends Operation>(definition: T): T {
  const { path, method, responses } = definition;
  // At completions these are 400.
  const ofBody = method === 'GET' || method === 'HEAD' || path === '/get_completion_v2' ? {} : refusals(408, 413, 415);
  const all: Operation['responses'] = { ...refusals(400, 500), ...ofBody, ...responses };
  const described = Object.entries(all).map(([status, response]) => {
    const headers = { 'X-Request-Id': requestId, ...statusHeaders[status], ...response.headers };
    return [status, { ...response, headers }];
  });
  return { ...definition, responses: Object.fromEntries(described) as T['responses'] };
}

const requestId = Type.String({ description: 'Names the request in the log of the server.' });
const retryAfter = {
  'Retry-After': Type.String({ description: 'The number of seconds after which the same request may succeed.' }),
};

/** Headers that a status has at every operation. */
const statusHeaders: Readonly<Record<string, { readonly [name: string]: TSchema }>> = {
  401: { 'WWW-Authenticate': Type.String({ description: '`Bearer`.' }) },
  416: { 'Content-Range': Type.String({ description: 'The size of the file: `bytes */123`.' }) },
  429: retryAfter,
  503: retryAfter,
};

/** HEAD of an operation that has GET: the same statuses and headers, without bodies. */
export function headOf(get: Operation, operationId: string) {
  const responses = Object.entries(get.responses).map(([status, { description, headers }]) => [
    status,
    { description, ...(headers === undefined ? {} : { headers }) },
  ]);
  return {
    ...get,
    operationId,
    method: 'HEAD',
    summary: `${get.summary}, without the body`,
    responses: Object.fromEntries(responses) as Operation['responses'],
  } as const;
}

export interface ErrorResponse {
  readonly description: string;
  readonly schema: TUnsafe<Static<typeof ApiErrorResponse>>;
}

const errorDescriptions = {
  400: 'Invalid request.',
  401: 'Missing or invalid platform API key.',
  403: 'The API key does not own this integration, or is not the administrator’s.',
  404: 'Not found.',
  408: 'The request did not arrive in time; the connection is closed.',
  409: 'In conflict with what is there; `code` says with what.',
  410: 'The events after this cursor were compacted.',
  413: 'The body is too large.',
  415: 'The body is not `application/json`.',
  416: 'The file has no such range; `Content-Range` says how long it is.',
  500: 'Internal error.',
  503: 'Not available now; try again.',
};

type ErrorStatus = keyof typeof errorDescriptions;

/** The error answers of an operation. */
export function refusals<const Status extends ErrorStatus>(
  ...statuses: Status[]
): { readonly [S in Status]: ErrorResponse } {
  const schema = ref(ApiErrorResponse);
  const entries = statuses.map((status) => [status, { description: errorDescriptions[status], schema }]);
  return Object.fromEntries(entries) as { readonly [S in Status]: ErrorResponse };
}

/** What an operation with a JSON body can also answer. */
export const bodyRefusals = () => refusals(400, 408, 413, 415);

/** What every operation below an integration can answer. */
export const integrationRefusals = () => refusals(400, 401, 403, 404, 500, 503);

export const integrationPath = '/v2/integrations/:apiIntegrationId';

export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  cursor: Type.Optional(Type.String({ description: '`nextCursor` of the page before.' })),
};
