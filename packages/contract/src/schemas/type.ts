import type { Type as TypeBox } from 'typebox';

type Schema = Readonly<Record<string, unknown>>;
type Options = Readonly<Record<string, unknown>>;

/** Hidden: it is no part of the schema, and decides what the object around it requires. */
const OPTIONAL = '~optional';

function objectOf(properties: Readonly<Record<string, Schema>>, options?: Options): Schema {
  const required = Object.keys(properties).filter((key) => !(OPTIONAL in (properties[key] ?? {})));
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties, ...options };
}

const builders = {
  Array: (items: Schema, options?: Options) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Options) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly string[], options?: Options) => ({ enum: values, ...options }),
  Integer: (options?: Options) => ({ type: 'integer', ...options }),
  Number: (options?: Options) => ({ type: 'number', ...options }),
  Object: objectOf,
  Optional: (schema: Schema) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
  String: (options?: Options) => ({ type: 'string', ...options }),
  Unsafe: (schema: Schema) => ({ ...schema }),
};

/**
 * TypeBox's own builders, by their types; a test holds what they make against what TypeBox makes. TypeBox itself is 500
 * modules, and to load them was 0.2 s of processor at each start, for these nine.
 */
export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>;
