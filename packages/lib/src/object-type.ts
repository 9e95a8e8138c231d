type Schema = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 8;

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns the schema with `type: object` at its top, which providers require of a tool's input. Returns null if the schema
 * accepts other values than objects. A union of objects has no `type` of its own.
 */
export function withObjectType(schema: Schema): Schema | null {
  if (schema.type === 'object') return schema;
  return describesObject(schema, schema, 0) ? { ...schema, type: 'object' } : null;
}

function describesObject(part: unknown, root: Schema, depth: number): boolean {
  if (!isObject(part) || depth > MAX_DEPTH) return false;
  if (part.type !== undefined) return part.type === 'object';
  const describes = (one: unknown) => describesObject(one, root, depth + 1);
  const unions = [part.anyOf, part.oneOf].filter(Array.isArray);
  return (
    (part.$ref !== undefined && describes(resolvedReference(part.$ref, root))) ||
    (Array.isArray(part.allOf) && part.allOf.some(describes)) ||
    unions.some((branches) => branches.length > 0 && branches.every(describes))
  );
}

/** Finds `#/$defs/name` and the like. Returns undefined for any other reference. */
export function resolvedReference(reference: unknown, root: Schema): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined;
  const names = reference.slice(2).split('/');
  return names.reduce<unknown>(
    (value, name) => (isObject(value) ? value[name.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
    root,
  );
}
