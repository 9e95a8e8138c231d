import type { ModelRequest, ModelResult } from './model.ts';
import { ModelFailure } from './model-failure.ts';
import { isObject, type JsonObject } from './provider-failure.ts';

/*
 * An agent's answer can have a schema. A provider that enforces it gets the schema; other models read it in their
 * instructions. Either way the loop checks the answer.
 */

/** The schema's name at providers that want one. */
export const OUTPUT_NAME = 'answer';

/** Statuses of a request that a provider does not understand. */
const NOT_UNDERSTOOD: ReadonlySet<number | null> = new Set([400, 404, 422]);

/** Remembers which schemas a model refused, so that it is not asked with them again. */
export class OutputForms {
  readonly #refused = new WeakSet<object>();

  /**
   * Calls the model with the schema, if `takesSchema`. If the provider refuses the request, calls it once more with
   * instructions instead. A provider that refuses this one too had another reason.
   */
  async call(
    request: ModelRequest,
    takesSchema: boolean,
    call: (request: ModelRequest) => Promise<ModelResult>,
  ): Promise<ModelResult> {
    const { output } = request;
    if (output === undefined) return call(request);
    if (!takesSchema || this.#refused.has(output)) return call(withInstructions(request, output));
    try {
      return await call(request);
    } catch (error) {
      if (!(error instanceof ModelFailure) || !NOT_UNDERSTOOD.has(error.providerStatus)) throw error;
    }
    const result = await call(withInstructions(request, output));
    this.#refused.add(output);
    return result;
  }
}

function withInstructions({ output: _, ...request }: ModelRequest, output: JsonObject): ModelRequest {
  return { ...request, instructions: instructionsFor(request.instructions, output) };
}

/** The instructions with a paragraph about the schema. */
export function instructionsFor(instructions: string, output: JsonObject): string {
  const rule = `Your last answer must be one JSON value that this JSON Schema accepts, without any other text:\n${JSON.stringify(output)}`;
  return instructions === '' ? rule : `${instructions}\n\n${rule}`;
}

/** Keywords that strict schemas of OpenAI may not have. */
const NOT_STRICT = [
  'allOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
];

/** True if the schema is an object, as the protocols of OpenAI require. */
export const isObjectSchema = ({ type }: JsonObject): boolean => type === 'object';

/** True if OpenAI can enforce the schema exactly: every property of every object is required, and there are no others. */
export function isStrict(schema: unknown): boolean {
  if (!isObject(schema)) return typeof schema !== 'boolean';
  if (NOT_STRICT.some((name) => name in schema)) return false;
  const { properties, required, additionalProperties } = schema;
  if (schema.type === 'object' || properties !== undefined) {
    const names = isObject(properties) ? Object.keys(properties) : [];
    const isClosed = additionalProperties === false && names.length > 0;
    if (!isClosed || !Array.isArray(required) || !names.every((name) => required.includes(name))) return false;
  }
  return subschemas(schema).every(isStrict);
}

/** The keywords that the Messages protocol accepts. The others, such as limits of lengths, are only checked here. */
const MESSAGES_KEYWORDS: ReadonlySet<string> = new Set([
  '$defs',
  '$ref',
  'additionalProperties',
  'anyOf',
  'const',
  'description',
  'enum',
  'items',
  'properties',
  'required',
  'title',
  'type',
]);

/**
 * Returns the schema as the Messages protocol accepts it, or null if it cannot: objects are closed, and keywords that the
 * protocol does not know are left out.
 */
export function messagesSchema(schema: JsonObject): JsonObject | null {
  return isObjectSchema(schema) ? closed(schema) : null;
}

function closed(schema: unknown): JsonObject | null {
  if (!isObject(schema)) return null;
  const { oneOf, additionalProperties } = schema;
  // A map with any names cannot be closed.
  const isMap = isObject(additionalProperties) || (additionalProperties === true && schema.properties === undefined);
  if (isMap || NOT_STRICT.some((name) => name !== 'oneOf' && name in schema)) return null;
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) if (MESSAGES_KEYWORDS.has(name)) result[name] = value;
  if (oneOf !== undefined) result.anyOf = oneOf;
  if (schema.type === 'object' || schema.properties !== undefined) result.additionalProperties = false;
  for (const name of ['properties', '$defs'] as const) {
    const inner = result[name];
    if (!isObject(inner)) continue;
    const parts = Object.entries(inner).map(([key, one]) => [key, closed(one)] as const);
    if (parts.some(([, one]) => one === null)) return null;
    result[name] = Object.fromEntries(parts);
  }
  if (result.items !== undefined) {
    result.items = closed(result.items);
    if (result.items === null) return null;
  }
  if (Array.isArray(result.anyOf)) {
    const parts = result.anyOf.map(closed);
    if (parts.includes(null)) return null;
    result.anyOf = parts;
  }
  return result;
}

function subschemas(schema: JsonObject): readonly unknown[] {
  const { properties, $defs, definitions, items, anyOf } = schema;
  return [
    ...[properties, $defs, definitions].flatMap((map) => (isObject(map) ? Object.values(map) : [])),
    ...(items === undefined ? [] : [items]),
    ...(Array.isArray(anyOf) ? anyOf : []),
  ];
}
