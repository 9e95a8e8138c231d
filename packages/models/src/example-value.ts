type Schema = Readonly<Record<string, unknown>>;

/** Schemas can contain themselves. */
const MAX_DEPTH = 8;

/** Returns a small value that a JSON Schema accepts. Schemas with patterns and combined conditions may refuse it. */
export function makeExample(root: Schema): unknown {
  const visit = (given: unknown, depth: number): unknown => {
    if (typeof given !== 'object' || given === null || depth > MAX_DEPTH) return null;
    const schema = given as Schema;
    if (typeof schema.$ref === 'string') return visit(atPointer(root, schema.$ref), depth + 1);
    if ('const' in schema) return schema.const;
    for (const values of [schema.enum, schema.examples]) if (Array.isArray(values)) return values[0];
    if ('default' in schema) return schema.default;
    for (const variants of [schema.anyOf, schema.oneOf, schema.allOf]) {
      if (Array.isArray(variants)) return visit({ ...schema, anyOf: 0, oneOf: 0, allOf: 0, ...variants[0] }, depth + 1);
    }
    const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
    switch (type ?? (schema.properties === undefined ? 'string' : 'object')) {
      case 'object':
        return toObject(schema, (inner) => visit(inner, depth + 1));
      case 'array':
        return Array.from({ length: Number(schema.minItems ?? 0) }, () => visit(schema.items ?? {}, depth + 1));
      case 'integer':
      case 'number':
        return getNumber(schema);
      case 'boolean':
        return true;
      case 'null':
        return null;
      default:
        return toText(schema);
    }
  };
  return visit(root, 0);
}

function toObject({ properties = {}, required = [] }: Schema, visit: (schema: unknown) => unknown): object {
  const fields = properties as Schema;
  return Object.fromEntries((required as readonly string[]).map((name) => [name, visit(fields[name] ?? {})]));
}

function getNumber({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: Schema): number {
  const step = typeof multipleOf === 'number' ? multipleOf : 1;
  const least = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + step : Number(minimum ?? 0);
  const most = typeof exclusiveMaximum === 'number' ? exclusiveMaximum - step : Number(maximum ?? least);
  return Math.min(Math.ceil(least / step) * step, most);
}

const FORMATS: Readonly<Record<string, string>> = {
  date: '2030-01-01',
  'date-time': '2030-01-01T00:00:00Z',
  email: 'someone@example.com',
  uri: 'https://example.com',
};

function toText({ format, minLength = 0, maxLength = 100 }: Schema): string {
  return FORMATS[String(format)] ?? 'offline'.padEnd(Number(minLength), '.').slice(0, Number(maxLength));
}

/** Finds `#/$defs/x`. */
function atPointer(root: Schema, pointer: string): unknown {
  let found: unknown = root;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    found = typeof found === 'object' && found !== null ? (found as Schema)[name] : undefined;
  }
  return found;
}
