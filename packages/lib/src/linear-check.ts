import type { SchemaCheck } from './json-schema.ts';

type Schema = Readonly<Record<string, unknown>>;
/** Returns what is wrong with the value, or null. `path` is its place in the whole value. */
type Check = (value: unknown, path: string) => string | null;

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: Number.isFinite,
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
};

/**
 * Returns a check for a valid schema of another party. Its time grows with the schema and the value only linearly. It knows
 * `type`, `enum`, `required`, `properties`, `additionalProperties: false`, `items` and the limits of numbers and texts,
 * and ignores the rest: a pattern, a reference or `uniqueItems` could stop the node, and so could the compiler of Ajv,
 * which needs 1 s for 64 KiB.
 */
export function linearCheck(schema: Schema): SchemaCheck {
  const check = compileCheck(schema);
  return (value) => {
    const problem = check(value, 'input');
    return problem === null ? { value } : { problem };
  };
}

function compileCheck(schema: unknown): Check {
  if (!isObject(schema)) return () => null;
  const checks = [ofType(schema), ofEnum(schema), ofLimits(schema), ofObject(schema), ofItems(schema)];
  const known = checks.filter((check) => check !== null);
  return (value, path) => {
    for (const check of known) {
      const problem = check(value, path);
      if (problem !== null) return problem;
    }
    return null;
  };
}

function ofType({ type, nullable }: Schema): Check | null {
  if (type === undefined || nullable === true) return null;
  const names = [...new Set([type].flat().map(String))];
  return (value, path) => (names.some((name) => TYPES[name]?.(value)) ? null : `${path} must be ${names.join(' or ')}`);
}

/** Lists with objects or lists are ignored: they would have to be compared one by one. */
function ofEnum({ enum: allowed, nullable }: Schema): Check | null {
  if (!Array.isArray(allowed) || nullable === true) return null;
  if (allowed.some((one) => typeof one === 'object' && one !== null)) return null;
  const values = new Set<unknown>(allowed);
  return (value, path) => (values.has(value) ? null : `${path} must be one of the values in \`enum\``);
}

function ofLimits({ minimum, maximum, minLength, maxLength }: Schema): Check | null {
  const isBelow = (size: number, limit: unknown) => typeof limit === 'number' && size < limit;
  const isAbove = (size: number, limit: unknown) => typeof limit === 'number' && size > limit;
  return (value, path) => {
    if (typeof value === 'number') {
      if (isBelow(value, minimum)) return `${path} must be >= ${minimum}`;
      if (isAbove(value, maximum)) return `${path} must be <= ${maximum}`;
    }
    if (typeof value === 'string' && (minLength !== undefined || maxLength !== undefined)) {
      const length = [...value].length;
      if (isBelow(length, minLength)) return `${path} must have at least ${minLength} characters`;
      if (isAbove(length, maxLength)) return `${path} must have at most ${maxLength} characters`;
    }
    return null;
  };
}

function ofObject({ required, properties, additionalProperties, patternProperties }: Schema): Check | null {
  const needed = Array.isArray(required) ? required.map(String) : [];
  const inner = new Map(
    Object.entries(isObject(properties) ? properties : {}).map(([key, one]) => [key, compileCheck(one)]),
  );
  const isClosed = additionalProperties === false && patternProperties === undefined;
  return (value, path) => {
    if (!isObject(value)) return null;
    const missing = needed.find((key) => !Object.hasOwn(value, key));
    if (missing !== undefined) return `${path} must have the property \`${missing}\``;
    for (const key of Object.keys(value)) {
      const check = inner.get(key);
      if (check === undefined && isClosed) return `${path} must not have the property \`${key}\``;
      const problem = check?.(value[key], `${path}/${key}`) ?? null;
      if (problem !== null) return problem;
    }
    return null;
  };
}

/** `prefixItems` makes `items` the schema of the rest. */
function ofItems({ items, prefixItems }: Schema): Check | null {
  if (!isObject(items) || prefixItems !== undefined) return null;
  const check = compileCheck(items);
  return (value, path) => {
    if (!Array.isArray(value)) return null;
    for (const [index, item] of value.entries()) {
      const problem = check(item, `${path}/${index}`);
      if (problem !== null) return problem;
    }
    return null;
  };
}
