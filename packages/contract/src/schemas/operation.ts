import type { Static, TSchema, TUnsafe } from 'typebox';
import { ApiErrorResponse } from './error.ts';
import { ref, text, time } from './kit.ts';
import { Type } from './type.ts';

export interface OperationResponse {
  readonly description: string;
  /** Absent if the answer has no body. */
  readonly schema?: TSchema;
  /** The default is `application/json`. */
  readonly contentTypes?: readonly string[];
  /** Further media types with their own schemas. */
  readonly otherContent?: { readonly [contentType: string]: TSchema };
  /** The schema of the data of each server-sent event, by the value of its `event:` line. */
  readonly events?: { readonly [event: string]: TSchema };
  readonly headers?: { readonly [name: string]: TSchema };
}

/** An example of a request and of its answer. Tests check it against the operation's schemas. */
export interface OperationExample {
  readonly params?: { readonly [name: string]: string | number };
  readonly query?: { readonly [name: string]: string | number | boolean };
  readonly body?: unknown;
  /** The answer's status. */
  readonly status: number;
  /** The answer's body, by media type. Absent if the answer has no body. */
  readonly answer?: { readonly [contentType: string]: unknown };
}

/** What a client token can permit. */
export const clientPermissions = ['run', 'read', 'upload', 'files', 'answer'] as const;
export type ClientPermission = (typeof clientPermissions)[number];

export interface Operation {
  readonly operationId: string;
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** In the form of Fastify: `/v2/integrations/:apiIntegrationId`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  /** False if the operation needs no API key. */
  readonly auth: boolean;
  /** What a client token must permit for this operation. Absent if no client token may call it. */
  readonly clientToken?: ClientPermission;
  /** The answer has a key, a token, a secret, a signed form or a set-up link. It is not compressed. */
  readonly returnsSecret?: true;
  /** The `apiIntegrationId` of the request is the one of a new integration. Elsewhere it must belong to the caller. */
  readonly createsIntegration?: true;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly headers?: TSchema;
  readonly body?: TSchema;
  /** The clients' field for the body, if the body may have any members. Other bodies are merged with the path's fields. */
  readonly bodyField?: string;
  /** True if the request may have no body. */
  readonly bodyOptional?: true;
  readonly example: OperationExample;
  readonly responses: { readonly [status: number]: OperationResponse };
}

/** Adds the error answers and headers that every operation has. */
export function operation<const T extends Operation>(definition: T): T {
  const { path, method, auth, responses } = definition;
  // Completions answer 400 in these cases.
  const bodyErrors =
    method === 'GET' || method === 'HEAD' || path === '/get_completion_v2' ? {} : refusals(408, 413, 415);
  // Every operation refuses client tokens that do not permit it.
  const tokenErrors = auth ? refusals(403) : {};
  const all: Operation['responses'] = { ...refusals(400, 500), ...tokenErrors, ...bodyErrors, ...responses };
  const withHeaders = Object.entries(all).map(([status, response]) => {
    const headers = { 'X-Request-Id': requestId, ...statusHeaders[status], ...response.headers };
    return [status, { ...response, headers }];
  });
  return { ...definition, responses: Object.fromEntries(withHeaders) as T['responses'] };
}

const requestId = text('Id of the request in the log of the server.');
const retryAfter = {
  'Retry-After': text('Number of seconds after which the same request may succeed.'),
};

/** Headers of a status, for every operation. */
const statusHeaders: Readonly<Record<string, { readonly [name: string]: TSchema }>> = {
  401: { 'WWW-Authenticate': text('`Bearer`.') },
  416: { 'Content-Range': text('Size of the file: `bytes */123`.') },
  429: retryAfter,
  503: retryAfter,
};

/** Describes HEAD of a GET operation: the same statuses and headers, without bodies. */
export function toHead(get: Operation, operationId: string) {
  const responses = Object.entries(get.responses).map(([status, { description, headers }]) => [
    status,
    { description, ...(headers === undefined ? {} : { headers }) },
  ]);
  return {
    ...get,
    operationId,
    method: 'HEAD',
    summary: `${get.summary}, without the body`,
    example: { status: get.example.status },
    responses: Object.fromEntries(responses) as Operation['responses'],
  } as const;
}

export interface ErrorResponse {
  readonly description: string;
  readonly schema: TUnsafe<Static<typeof ApiErrorResponse>>;
}

const errorDescriptions = {
  400: 'Invalid request.',
  401: 'Missing or invalid platform API key or client token.',
  403: "The API key does not own this integration, or is not the administrator's; or the role or the client token does not permit this.",
  404: 'Not found.',
  408: 'The request did not arrive in time. The server closes the connection.',
  409: 'The request conflicts with the stored state; `code` names the conflict.',
  410: 'The events after this cursor were compacted.',
  413: 'The body is too large.',
  415: 'The body is not `application/json`.',
  416: 'The file does not have this range; `Content-Range` contains its size.',
  429: 'The member is not active.',
  500: 'Internal error.',
  503: 'The server cannot accept the request now; try again.',
};

type ErrorStatus = keyof typeof errorDescriptions;

/** Error answers of an operation. */
export function refusals<const Status extends ErrorStatus>(
  ...statuses: Status[]
): { readonly [S in Status]: ErrorResponse } {
  const schema = ref(ApiErrorResponse);
  const entries = statuses.map((status) => [status, { description: errorDescriptions[status], schema }]);
  return Object.fromEntries(entries) as { readonly [S in Status]: ErrorResponse };
}

/** Error answers of every operation with a JSON body. */
export const bodyRefusals = () => refusals(400, 408, 413, 415);

/** Error answers of every operation below an integration. */
export const integrationRefusals = () => refusals(400, 401, 403, 404, 500, 503);

export const integrationPath = '/v2/integrations/:apiIntegrationId';

export const integrationParams = { apiIntegrationId: text('Identifier of the integration.') };

export const admissionPeriod = {
  from: Type.Optional(time('Only runs that were admitted at this time or later.')),
  to: Type.Optional(time('Only runs that were admitted before this time.')),
};

/** The parameter `q` for lists that can be searched. */
export const searchWords = () =>
  Type.String({
    minLength: 1,
    maxLength: 200,
    description:
      'Words that all must occur in messages, answers, names of tools or error messages, regardless of case and accents; the last one also as the beginning of a longer word.',
  });

export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Maximum number of items of the page.' }),
  ),
  cursor: Type.Optional(text('`nextCursor` of the previous page. The filters must be the same.')),
};
