import type { Static, TProperties, TSchema, TUnsafe } from 'typebox';
import { Type } from './type.ts';

/** Matches strings without C0, DEL and C1 control characters. Ajv compiles patterns with the `u` flag. */
export const noControlCharacters = '^[^\\u0000-\\u001F\\u007F-\\u009F]*$';

/** Matches an `apiIntegrationId` that a caller may choose. */
export const integrationId = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$';

/** Matches a name that providers accept for a tool. */
export const toolName = '^[A-Za-z0-9_-]{1,64}$';

/** Matches a file's name without its folder. */
export const fileName = '^[^/\\\\\\u0000-\\u001F\\u007F-\\u009F]*$';

/** Matches `provider/model`. */
export const modelId = '^[a-z0-9-]+/[\\x21-\\x7e]+$';

/** Explains what a pattern of the schemas allows. The text ends a sentence that begins with the field's name. */
export const patternSentences: Readonly<Record<string, string>> = {
  [noControlCharacters]: 'must not contain control characters (such as tabs, line breaks or NUL)',
  [integrationId]: 'must be 1 to 64 letters, digits, `_` or `-` (ASCII), and begin with a letter or a digit',
  [toolName]: 'must be 1 to 64 letters, digits, `_` or `-` (ASCII)',
  [fileName]: 'must not contain `/`, `\\` or control characters',
  [modelId]: 'must be `provider/model`, such as `openai/gpt-5-mini`',
};

type SchemaWithId = TSchema & { readonly $id: string };

/** Names a schema. TypeBox's options would erase the literal type, so the name is assigned afterwards. */
export function named<const Id extends string, T extends TSchema>($id: Id, schema: T): T & { readonly $id: Id } {
  return Object.assign(schema, { $id });
}

/** Returns a reference in the form that Fastify's `addSchema` resolves. Its static type is that of the schema. */
export function ref<T extends SchemaWithId>(schema: T): TUnsafe<Static<T>> {
  return Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#` });
}

/**
 * Allows null. Ajv accepts `nullable` only beside `type`, not beside `$ref` or `oneOf`, so a named schema is copied
 * without its name. An enum also lists null, because OpenAPI 3.0.3 and Ajv both require that.
 */
export function nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  const { $id: _, ...copy } = schema as T & { $id?: string; enum?: unknown[] };
  return Type.Unsafe<Static<T> | null>(
    copy.enum === undefined ? { ...copy, nullable: true } : { ...copy, enum: [...copy.enum, null], nullable: true },
  );
}

/**
 * One of several objects, told apart by the value of `property`. Ajv throws on `mapping` in a discriminator, so the OpenAPI
 * document adds it. With a discriminator, Ajv checks only objects, so without `type` a string or a number would pass.
 */
export function eitherBy<S extends readonly SchemaWithId[]>(
  property: string,
  schemas: readonly [...S],
  description: string,
): TUnsafe<Static<S[number]>> {
  return Type.Unsafe<Static<S[number]>>({
    description,
    type: 'object',
    discriminator: { propertyName: property },
    required: [property],
    oneOf: schemas.map(ref),
  });
}

/** An object with arbitrary keys. `Type.Record` writes `patternProperties`, which OpenAPI 3.0.3 does not have. */
export function recordSchema<T extends TSchema>(values: T, options: object = {}): TUnsafe<Record<string, Static<T>>> {
  return Type.Unsafe<Record<string, Static<T>>>({ type: 'object', additionalProperties: values, ...options });
}

export function freeObject(options: object = {}): TUnsafe<Record<string, unknown>> {
  return Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, ...options });
}

export function oneOfStrings<const Values extends string[]>(values: readonly [...Values], options: object = {}) {
  return Type.Enum<Values>(values, { type: 'string', ...options });
}

/** A request body that refuses unknown fields. */
export function strictObject<Properties extends TProperties>(properties: Properties, options: object = {}) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

export function toList<const Id extends string, T extends SchemaWithId>($id: Id, item: T) {
  const fields = { items: Type.Array(ref(item), { description: 'The items of this page, in order.' }), nextCursor };
  return named($id, Type.Object(fields, { description: `A page of a list of \`${item.$id}\`.` }));
}

/** The same schema with a description for the field that it is used in. */
export function described<T extends TSchema>(schema: T, description: string): T {
  return { ...schema, description };
}

export const text = (description: string, options: object = {}) => Type.String({ ...options, description });
export const flag = (description: string) => Type.Boolean({ description });
export const count = (description: string) => Type.Integer({ minimum: 0, description });
export const time = (description: string) => Type.String({ format: 'date-time', description });

export const nextCursor = nullable(text('Send it as `cursor` to read the next page. Null on the last page.'));

/** An id that callers choose: 1 to 256 code points without control characters. */
export const callerId = (description: string) =>
  Type.String({ minLength: 1, maxLength: 256, pattern: noControlCharacters, description });

export const displayName = (description: string) => Type.String({ minLength: 1, maxLength: 200, description });
