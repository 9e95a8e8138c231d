import { namedSchemas, type Operation, type OperationResponse, operations } from '@runwire/contract/schemas';
import { Ajv, type ValidateFunction } from 'ajv';
import * as ajvFormats from 'ajv-formats';

/** Headers that OpenAPI need not describe: those of HTTP itself, and those for browsers and proxies. */
const PLAIN_HEADERS: ReadonlySet<string> = new Set([
  'access-control-allow-origin',
  'access-control-expose-headers',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-security-policy',
  'content-type',
  'date',
  'keep-alive',
  'referrer-policy',
  'server',
  'transfer-encoding',
  'vary',
  'x-accel-buffering',
  'x-content-type-options',
]);

export interface ReceivedHead {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
}

const byPath = Object.values(operations as Record<string, Operation>).map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replace(/:[A-Za-z]+/g, '[^/]+')}$`),
}));

const COMPATIBLE = /^\/v2\/integrations\/[^/]+\/(?:openai|ai-sdk|ag-ui|mcp|agency-swarm)(?:[/?]|$)/;

/**
 * True for paths that OpenAPI does not describe: signed forms are posted below `/uploads/`, and the answers are S3's; the
 * compatible APIs are described by others.
 */
const isForeign = (path: string) => path.startsWith('/uploads/') || COMPATIBLE.test(path);

function barePath(path: string): string {
  const [bare = ''] = path.split(/[?#]/, 1);
  return bare.length > 1 && bare.endsWith('/') ? bare.slice(0, -1) : bare;
}

/** Returns this answer's description; null if the path or the method is not described. */
function describedAs({ method, path, status }: ReceivedHead): OperationResponse | null {
  const bare = barePath(path);
  const found = byPath.find(({ operation, pattern }) => operation.method === method && pattern.test(bare));
  if (found === undefined) return null;
  const response = found.operation.responses[status];
  if (response === undefined) throw undescribed({ method, path, status }, 'the status is not described');
  return response;
}

function undescribed(head: Pick<ReceivedHead, 'method' | 'path' | 'status'>, why: string): Error {
  return new Error(
    `${head.method} ${head.path} answered ${head.status}, but the OpenAPI description disagrees: ${why}.`,
  );
}

/** Throws if status, headers or media type of an answer are not as the OpenAPI document describes them. */
export function checkHead(head: ReceivedHead): void {
  const { method, path, status, headers } = head;
  if (isForeign(path)) return;
  const requestId = headers.get('x-request-id');
  // The answer is of a proxy.
  if (requestId === null && headers.has('server')) return;
  if (requestId === null) throw undescribed(head, '`X-Request-Id` is missing');
  const response = describedAs(head);
  if (response === null) {
    checkUnknown(head);
    return;
  }
  const described = Object.entries(response.headers ?? {}).map(
    ([name, schema]) => [name.toLowerCase(), schema] as const,
  );
  for (const [name, value] of headers) {
    if (PLAIN_HEADERS.has(name)) continue;
    const schema = described.find(([one]) => one === name)?.[1] as { enum?: readonly string[] } | undefined;
    if (schema === undefined) throw undescribed(head, `the header \`${name}\` is not described`);
    if (schema.enum?.includes(value) === false)
      throw undescribed(head, `\`${name}: ${value}\` is not one of its values`);
  }
  const type = headers.get('content-type')?.split(';')[0];
  const hasBody = type !== undefined && status !== 304 && method !== 'HEAD';
  if (hasBody && !mediaTypes(response).includes(type)) throw undescribed(head, `\`${type}\` is no media type of it`);
}

function checkUnknown(head: ReceivedHead): void {
  const { status, headers } = head;
  if (status !== 404 && status !== 405 && status !== 400) throw undescribed(head, 'no operation is described there');
  if (!(headers.get('content-type') ?? '').startsWith('application/json')) throw undescribed(head, 'it is not JSON');
  if (status === 405 && !headers.has('allow')) throw undescribed(head, '`Allow` is missing');
}

function mediaTypes({ schema, contentTypes, otherContent }: OperationResponse): string[] {
  if (schema === undefined) return [];
  return [...(contentTypes ?? ['application/json']), ...Object.keys(otherContent ?? {})];
}

/** Throws if a JSON body is not as described, or has a field that is not described. */
export function checkJsonBody(head: ReceivedHead, body: unknown): void {
  if (isForeign(head.path)) return;
  const schema = describedAs(head)?.schema ?? { $ref: 'ApiErrorResponse#' };
  const validate = compileValidator(schema);
  if (validate(body)) return;
  throw undescribed(head, `${validator().errorsText(validate.errors)}\n${JSON.stringify(body)}`);
}

const validators = new Map<object, ValidateFunction>();

function compileValidator(schema: object): ValidateFunction {
  let known = validators.get(schema);
  if (known === undefined) {
    known = validator().compile(strict(schema) as object);
    validators.set(schema, known);
  }
  return known;
}

let made: Ajv | null = null;

function validator(): Ajv {
  if (made !== null) return made;
  // Another test checks the schemas. A check here would take most of the time that a test file needs to load.
  made = new Ajv({ strict: false, discriminator: true, meta: false, validateSchema: false });
  (ajvFormats.default as unknown as (ajv: Ajv) => void)(made);
  for (const schema of namedSchemas) made.addSchema(strict(schema) as object, (schema as { $id?: string }).$id);
  return made;
}

/** Returns the same schema, but objects may have only the fields that it names. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (schema === null || typeof schema !== 'object') return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, strict(value)]));
  const isOpen = copy.type === 'object' && copy.properties !== undefined && copy.additionalProperties === undefined;
  return isOpen ? { ...copy, additionalProperties: false } : copy;
}
