import type { Type as TypeBox } from 'typebox';

type Schema = Readonly<Record<string, unknown>>;
type Options = Readonly<Record<string, unknown>>;

/** Not enumerable, so it is not part of the schema. It decides what the surrounding object requires. */
const OPTIONAL = '~optional';

function toObject(properties: Readonly<Record<string, Schema>>, options?: Options): Schema {
  const required = Object.keys(properties).filter((key) => !(OPTIONAL in (properties[key] ?? {})));
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties, ...options };
}

const builders = {
  Array: (items: Schema, options?: Options) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Options) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly string[], options?: Options) => ({ enum: values, ...options }),
  Integer: (options?: Options) => ({ type: 'integer', ...options }),
  Number: (options?: Options) => ({ type: 'number', ...options }),
  Object: toObject,
  Optional: (schema: Schema) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
  String: (options?: Options) => ({ type: 'string', ...options }),
  Unsafe: (schema: Schema) => ({ ...schema }),
};

/**
 * The builders of TypeBox that we use, with its types; a test compares their results. TypeBox has 500 modules, which
 * cost 0.2 s of CPU at every start.
 */
export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>;
