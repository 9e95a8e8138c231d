import { resolvedReference } from '@runwire/lib/object-type.ts';
import { isObject, type JsonObject } from './provider-failure.ts';

const UNIONS = ['anyOf', 'oneOf'] as const;
const MAX_DEPTH = 8;

/**
 * Returns the schema of a tool's input without `anyOf`, `oneOf`, `allOf` and `$ref` at its top, which the Messages
 * protocol refuses. The result accepts everything that the schema accepts, and more: the tool checks its input anyway.
 */
export function objectSchema(schema: JsonObject): JsonObject {
  const isPlain = !['$ref', 'allOf', ...UNIONS].some((name) => name in schema);
  if (isPlain) return schema.type === 'object' ? schema : { ...schema, type: 'object' };
  const { $ref, allOf, anyOf, oneOf, ...rest } = schema;
  const { properties, required } = merged(schema, schema, 0);
  return {
    ...rest,
    type: 'object',
    ...(properties.size === 0 ? {} : { properties: Object.fromEntries(properties) }),
    ...(required.size === 0 ? {} : { required: [...required] }),
  };
}

interface Shape {
  readonly properties: Map<string, unknown>;
  readonly required: Set<string>;
}

/** Merges the properties of all parts. In a union, only what every branch requires is required. */
function merged(part: unknown, root: JsonObject, depth: number): Shape {
  const shape: Shape = { properties: new Map(), required: new Set() };
  if (!isObject(part) || depth > MAX_DEPTH) return shape;
  if (isObject(part.properties)) addAll(shape.properties, Object.entries(part.properties));
  if (Array.isArray(part.required)) for (const name of part.required) shape.required.add(String(name));
  const both = [
    ...(Array.isArray(part.allOf) ? part.allOf : []),
    ...(part.$ref === undefined ? [] : [resolvedReference(part.$ref, root)]),
  ];
  for (const one of both) {
    const { properties, required } = merged(one, root, depth + 1);
    addAll(shape.properties, properties);
    for (const name of required) shape.required.add(name);
  }
  for (const name of UNIONS) {
    const union = part[name];
    if (!Array.isArray(union) || union.length === 0) continue;
    const branches = union.map((one) => merged(one, root, depth + 1));
    for (const { properties } of branches) addAll(shape.properties, properties);
    const always = branches.map(({ required }) => required).reduce((a, b) => a.intersection(b));
    for (const one of always) shape.required.add(one);
  }
  return shape;
}

/** A property that several parts describe in different ways may have any of these forms. */
function addAll(properties: Map<string, unknown>, more: Iterable<readonly [string, unknown]>): void {
  for (const [name, schema] of more) {
    const known = properties.get(name);
    if (known === undefined) properties.set(name, schema);
    else if (JSON.stringify(known) !== JSON.stringify(schema)) properties.set(name, { anyOf: [known, schema] });
  }
}
