import { memberName } from '@runwire/lib/member-name.ts';
import type { FastifyRequest } from 'fastify';
import type { ClientTool } from '../../../domain/question/client-tool.ts';
import { Refusal } from '../../../domain/refusal.ts';
import type { RunExtras } from '../../../domain/run/run-extras.ts';
import { readFunction } from '../caller-tools.ts';
import type { CompatibleCall } from '../compatible-route.ts';
import { headerConsumer } from '../compatible-starts.ts';
import { Fields } from '../fields.ts';

/** The agent that `model` names. Null for the integration's default: absent, or the id of the integration itself. */
export function readAgent(body: Fields, { scope }: Pick<CompatibleCall, 'scope'>): string | null {
  const model = body.text('model');
  return model === null || model === '' || model === scope.integrationId ? null : model;
}

/** The member: the header, else `safety_identifier`, else `user`. A client token names its member itself. */
export function readConsumer(body: Fields, { request }: Pick<CompatibleCall, 'request'>): string | null {
  const consumerId = headerConsumer(request);
  // A field that is not read is named as ignored.
  if (request.clientToken !== null || consumerId !== null) return consumerId;
  return body.text('safety_identifier') || body.text('user') || null;
}

/** The `usageRequestId`: the header `Idempotency-Key`. */
export function idempotencyKey({ headers }: Pick<FastifyRequest, 'headers'>): string | null {
  const value = headers['idempotency-key'];
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

/** The fields that change what an answer is and cannot be obeyed; `problem` returns why a value is refused. */
const UNSUPPORTED: Readonly<Record<string, (value: unknown) => string | null>> = {
  prompt: () => 'stored prompts do not exist here; send `instructions` or configure the agent',
  audio: () => 'answers are text; leave it out',
  modalities: (value) =>
    Array.isArray(value) && value.every((one) => one === 'text') ? null : 'answers are text; leave it out',
  n: (value) => (value === 1 ? null : 'a request is one run with one answer; send 1 or leave it out'),
  logprobs: (value) => (value === false ? null : 'log probabilities are not available; leave it out'),
  top_logprobs: (value) => (value === 0 ? null : 'log probabilities are not available; leave it out'),
  tool_choice: (value) =>
    value === 'auto' || value === 'none' ? null : 'the agent chooses its tools; send `auto` or `none`, or leave it out',
};

/** Throws if the body has a field that would change what the answer is. Their harmless values pass. */
export function refuseUnsupported(body: Fields): void {
  for (const [name, problem] of Object.entries(UNSUPPORTED)) {
    const value = body.any(name);
    const found = value === null ? null : problem(value);
    if (found !== null) throw unsupported(body.nameOf(name), found);
  }
}

export const unsupported = (name: string, problem: string): Refusal =>
  new Refusal('unsupported_field', `\`${memberName(name)}\` is not supported: ${problem}.`);

/** Names the fields that no code has read in `X-Runwire-Ignored`. Called after everything else was read. */
export function noteIgnored(body: Fields, { ignored }: Pick<CompatibleCall, 'ignored'>): void {
  const names = body.inOrder([...ignored, ...body.unread]);
  ignored.clear();
  for (const name of names) ignored.add(name);
}

const MAX_TOOLS = 64;

/**
 * The caller's own tools. `getFunction` returns the part of a tool that has its name: the tool itself in Responses, its
 * `function` in Chat Completions. With `tool_choice: "none"` the agent does not get them.
 */
export function readTools(body: Fields, getFunction: (tool: Fields) => Fields): ClientTool[] {
  const tools = body.objects('tools');
  if (tools.length > MAX_TOOLS) throw body.refusal('tools', `must have at most ${MAX_TOOLS} tools`);
  const read = tools.map((tool) => readTool(tool, getFunction));
  return body.any('tool_choice') === 'none' ? [] : read;
}

function readTool(tool: Fields, getFunction: (tool: Fields) => Fields): ClientTool {
  const type = tool.requiredText('type');
  if (type !== 'function') {
    throw unsupported(tool.nameOf('type'), `\`${memberName(type)}\` is no tool that a caller can run; send functions`);
  }
  return readFunction(getFunction(tool));
}

const MAX_SCHEMA_BYTES = 65_536;

/**
 * The schema of a structured answer; null if the answer is text. `getFormat` returns the part of a format of the type
 * `json_schema` that has the schema.
 */
export function readOutputSchema(
  format: Fields | null,
  getSchema: (format: Fields) => Fields | null,
): RunExtras['outputSchema'] {
  if (format === null) return null;
  const type = format.requiredText('type');
  if (type === 'text') return null;
  if (type === 'json_object') return { type: 'object' };
  if (type !== 'json_schema') throw format.refusal('type', 'must be `text`, `json_object` or `json_schema`');
  const about = getSchema(format);
  if (about === null) throw format.refusal('json_schema', 'is missing');
  about.text('name');
  about.text('description');
  about.flag('strict');
  const schema = about.any('schema');
  if (schema === null) throw about.refusal('schema', 'is missing');
  Fields.of(schema, about.nameOf('schema'));
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES) {
    throw about.refusal('schema', `must have at most ${MAX_SCHEMA_BYTES} bytes of JSON`);
  }
  return schema as Readonly<Record<string, unknown>>;
}

const MAX_PAIRS = 16;
const MAX_KEY = 64;
const MAX_VALUE = 512;

/** Pairs of texts that are stored with the run and returned. */
export function readMetadata(body: Fields): RunExtras['metadata'] {
  const value = body.any('metadata');
  if (value === null) return null;
  Fields.of(value, body.nameOf('metadata'));
  const pairs = Object.entries(value as Readonly<Record<string, unknown>>);
  if (pairs.length > MAX_PAIRS) throw body.refusal('metadata', `must have at most ${MAX_PAIRS} pairs`);
  for (const [key, text] of pairs) {
    if (key.length <= MAX_KEY && typeof text === 'string' && text.length <= MAX_VALUE) continue;
    throw body.refusal('metadata', `must have keys of at most ${MAX_KEY} and texts of at most ${MAX_VALUE} characters`);
  }
  return pairs.length === 0 ? null : (value as Readonly<Record<string, string>>);
}
