import type { Static, TProperties, TSchema, TUnsafe } from 'typebox';
import { Type } from './type.ts';

/** A string without C0, DEL and C1 control characters. Ajv compiles patterns with the `u` flag. */
export const noControlCharacters = '^[^\\u0000-\\u001F\\u007F-\\u009F]*$';

/** An `apiIntegrationId` that a caller chooses. */
export const integrationId = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$';
/** The name of a file without its folder. */
export const fileName = '^[^/\\\\\\u0000-\\u001F\\u007F-\\u009F]*$';

/** Explains what a pattern of the schemas allows. The text ends a sentence that begins with the name of the field. */
export const patternSentences: Readonly<Record<string, string>> = {
  [noControlCharacters]: 'must not contain control characters (such as tabs, line breaks or NUL)',
  [integrationId]: 'must be 1 to 64 letters, digits, `_` or `-` (ASCII), and begin with a letter or a digit',
  [fileName]: 'must not contain `/`, `\\` or control characters',
};

type Named = TSchema & { readonly $id: string };

/** TypeBox's options erase the literal, so a name is put on afterwards and the schema's own type stays as it was. */
export function named<const Id extends string, T extends TSchema>($id: Id, schema: T): T & { readonly $id: Id } {
  return Object.assign(schema, { $id });
}

/** A reference in the form Fastify's `addSchema` resolves; the type is that of the schema referred to. */
export function ref<T extends Named>(schema: T): TUnsafe<Static<T>> {
  return Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#` });
}

/**
 * `nullable: true` beside `type`: Ajv refuses it beside `$ref` or `oneOf`, so a named schema is copied in, without its
 * name. An enum lists null as a value of its own, as OpenAPI 3.0.3 and Ajv both ask.
 */
export function nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  const { $id: _, ...copy } = schema as T & { $id?: string; enum?: unknown[] };
  return Type.Unsafe<Static<T> | null>(
    copy.enum === undefined ? { ...copy, nullable: true } : { ...copy, enum: [...copy.enum, null], nullable: true },
  );
}

/** `Type.Record` writes `patternProperties`, which OpenAPI 3.0.3 does not have. */
export function mapOf<T extends TSchema>(values: T, options: object = {}): TUnsafe<Record<string, Static<T>>> {
  return Type.Unsafe<Record<string, Static<T>>>({ type: 'object', additionalProperties: values, ...options });
}

export function freeObject(options: object = {}): TUnsafe<Record<string, unknown>> {
  return Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, ...options });
}

export function oneOfStrings<const Values extends string[]>(values: readonly [...Values], options: object = {}) {
  return Type.Enum<Values>(values, { type: 'string', ...options });
}

/** A request body in which an unknown field is refused. */
export function strictObject<Properties extends TProperties>(properties: Properties, options: object = {}) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

export function listOf<const Id extends string, T extends Named>($id: Id, item: T) {
  return named($id, Type.Object({ items: Type.Array(ref(item)), nextCursor: nullable(Type.String()) }));
}

export const time = (options: object = {}) => Type.String({ format: 'date-time', ...options });
export const count = () => Type.Integer({ minimum: 0 });

/** An id that callers choose: 1 to 256 code points without control characters. */
export const callerId = (options: object = {}) =>
  Type.String({ minLength: 1, maxLength: 256, pattern: noControlCharacters, ...options });

export const displayName = () => Type.String({ minLength: 1, maxLength: 200 });
