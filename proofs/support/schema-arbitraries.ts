import { namedSchemas } from '@runwire/contract/schemas';
import fc from 'fast-check';

/** The part of JSON Schema that the contract's schemas are written in. */
export interface JsonSchema {
  readonly $id?: string;
  readonly $ref?: string;
  readonly type?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly discriminator?: { readonly propertyName: string };
}

/** A value with one thing wrong in it, and the name under which a refusal must speak of that; '' is the body itself. */
export interface Wrong {
  readonly value: unknown;
  readonly field: string;
}

const byId = new Map((namedSchemas as readonly JsonSchema[]).map((schema) => [`${schema.$id}#`, schema]));

function resolve(schema: JsonSchema): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const found = byId.get(schema.$ref);
  if (found === undefined) throw new Error(`There is no schema ${schema.$ref}.`);
  return found;
}

const LONG = 300;
/** Whatever a string may be made of, but for what the patterns of most fields forbid. */
const plainText = (min: number, max: number) =>
  fc.string({
    unit: fc.constantFrom('a', 'Z', '0', ' ', '"', '\\', 'é', '\u{1F600}', '\u2028'),
    minLength: min,
    maxLength: max,
  });

function validString({ minLength = 0, maxLength = LONG, pattern, format }: JsonSchema): fc.Arbitrary<unknown> {
  if (format === 'uri') return fc.constantFrom('https://example.com/a.png', 'https://example.com/b?c=d');
  if (format === 'date-time') return fc.constant('2030-01-01T00:00:00.000Z');
  if (format === 'email') return fc.constant('ann@example.com');
  if (pattern !== undefined && !pattern.startsWith('^[^')) return fc.constant('abc');
  const texts = plainText(minLength, Math.min(maxLength, minLength + 20));
  return pattern === undefined ? texts : texts.filter((text) => new RegExp(pattern, 'u').test(text));
}

/** Values that the schema takes. */
export function valid(given: JsonSchema): fc.Arbitrary<unknown> {
  const schema = resolve(given);
  if (schema.nullable === true) return fc.oneof(fc.constant(null), valid({ ...schema, nullable: false }));
  const variants = schema.oneOf ?? schema.anyOf;
  if (variants !== undefined) return fc.oneof(...variants.map(valid));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum.filter((value) => value !== null));
  switch (schema.type) {
    case 'string':
      return validString(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 1000, 2 ** 31 - 1) });
    case 'number':
      return fc.constantFrom(0, 0.5, 3);
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valid(schema.items ?? {}), { maxLength: Math.min(schema.maxItems ?? 3, 3) });
    case 'object': {
      const properties = Object.entries(schema.properties ?? {}).map(([name, own]) => [name, valid(own)] as const);
      if (properties.length === 0)
        return fc.constantFrom({}, ...(schema.additionalProperties === true ? [{ a: [1] }] : []));
      return fc.record(Object.fromEntries(properties), {
        requiredKeys: [...(schema.required ?? [])],
        noNullPrototype: true,
      });
    }
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

const OF_TYPE: Readonly<Record<string, readonly unknown[]>> = {
  string: ['', 'text', '5', 'null', '[object Object]'],
  number: [1.5, -0.25, 1e300],
  integer: [0, -1, 5, 2 ** 53],
  boolean: [true, false],
  array: [[], [[]], [null]],
  object: [{}, { type: 5 }, { constructor: 1 }, { toString: null }],
  null: [null],
};

function typesOf(schema: JsonSchema): Set<string> {
  const variants = schema.oneOf ?? schema.anyOf;
  const types = variants?.flatMap((variant) => [...typesOf(resolve(variant))]) ?? [schema.type ?? 'object'];
  if (schema.nullable === true) types.push('null');
  if (types.includes('number')) types.push('integer');
  return new Set(types);
}

const at = (field: string) => (value: unknown) => ({ value, field });
const below = (field: string, name: string) => (field === '' ? name : `${field}.${name}`);

function wrongString(schema: JsonSchema, field: string): fc.Arbitrary<Wrong>[] {
  const { minLength = 0, maxLength, pattern, format } = schema;
  const wrong: fc.Arbitrary<unknown>[] = [];
  if (schema.enum !== undefined) wrong.push(fc.constantFrom('', 'AUTO', ' low', 'input_audio', 'runs '));
  else {
    if (minLength > 0) wrong.push(fc.constant(''));
    if (maxLength !== undefined && maxLength <= LONG) wrong.push(plainText(maxLength + 1, maxLength + 5));
    if (pattern !== undefined) wrong.push(fc.constantFrom('\0', 'a\nb', 'tab\t', '\u007f', '\u0085', '\u009f'));
    if (format === 'uri') wrong.push(fc.constantFrom('', 'no uri', '//example.com', 'https://a b', 'ü'));
    if (format === 'date-time') wrong.push(fc.constantFrom('', 'tomorrow', '2030-13-01T00:00:00Z', '2030-01-01'));
  }
  return wrong.map((values) => values.map(at(field)));
}

function wrongNumber({ minimum, maximum, type }: JsonSchema, field: string): fc.Arbitrary<Wrong>[] {
  const values: number[] = [];
  if (type === 'integer') values.push((minimum ?? 0) + 0.5);
  if (minimum !== undefined) values.push(minimum - 1, -1e300);
  if (maximum !== undefined) values.push(maximum + 1, 1e300);
  return values.length === 0 ? [] : [fc.constantFrom(...values).map(at(field))];
}

function wrongArray(schema: JsonSchema, field: string): fc.Arbitrary<Wrong>[] {
  const { items = {}, maxItems } = schema;
  const room = maxItems ?? 4;
  const one = fc
    .tuple(fc.array(valid(items), { maxLength: Math.min(room - 1, 3) }), wrong(items, ''))
    .map(([before, { value, field: inside }]) => {
      const place = `${field}[${before.length}]`;
      return { value: [...before, value], field: inside === '' ? place : below(place, inside) };
    });
  if (maxItems === undefined) return [one];
  const tooMany = fc.array(valid(items), { minLength: maxItems + 1, maxLength: maxItems + 3 }).map(at(field));
  return [one, tooMany];
}

function wrongObject(schema: JsonSchema, field: string): fc.Arbitrary<Wrong>[] {
  const { properties = {}, required = [], additionalProperties } = schema;
  const found: fc.Arbitrary<Wrong>[] = [];
  const good = valid({ ...schema, nullable: false });
  for (const [name, own] of Object.entries(properties)) {
    const inside = fc
      .tuple(good, wrong(own, below(field, name)))
      .map(([whole, bad]) => ({ value: { ...(whole as object), [name]: bad.value }, field: bad.field }));
    found.push(inside);
    if (!required.includes(name)) continue;
    const without = good.map((whole) => {
      const { [name]: _, ...rest } = whole as Record<string, unknown>;
      return { value: rest, field: below(field, name) };
    });
    found.push(without);
  }
  if (additionalProperties === false) {
    const strangers = fc.constantFrom('extra', 'Type', 'constructor', 'ünknown');
    found.push(
      fc
        .tuple(good, strangers)
        .map(([whole, name]) => ({ value: { ...(whole as object), [name]: 1 }, field: below(field, name) })),
    );
  } else if (typeof additionalProperties === 'object') {
    const key = 'https://example.com/a';
    found.push(wrong(additionalProperties, below(field, key)).map((bad) => ({ ...bad, value: { [key]: bad.value } })));
  }
  return found;
}

/** Values that the schema refuses for exactly one reason. */
export function wrong(given: JsonSchema, field: string): fc.Arbitrary<Wrong> {
  const schema = resolve(given);
  const allowed = typesOf(schema);
  const others = Object.entries(OF_TYPE).filter(
    ([type]) => !allowed.has(type) && !(type === 'number' && allowed.has('integer')),
  );
  const ofAnotherType = fc.constantFrom(...others.flatMap(([, values]) => values)).map(at(field));
  const variants = schema.oneOf;
  if (variants !== undefined && schema.discriminator !== undefined) {
    const { propertyName } = schema.discriminator;
    const badType = fc.constantFrom('input_audio', 'INPUT_FILE', '', 5, null, undefined);
    const untold = fc.tuple(fc.oneof(...variants.map(valid)), badType).map(([whole, type]) => ({
      value: { ...(whole as object), [propertyName]: type },
      field: below(field, propertyName),
    }));
    const inside = variants.map((variant) => {
      const { properties = {}, ...rest } = resolve(variant);
      const { [propertyName]: told, ...own } = properties;
      const required = rest.required?.filter((name) => name !== propertyName) ?? [];
      return fc
        .oneof(...wrongObject({ ...rest, properties: own, required }, field))
        .map((bad) => ({ ...bad, value: { [propertyName]: told?.enum?.[0], ...(bad.value as object) } }));
    });
    return fc.oneof(ofAnotherType, untold, ...inside);
  }
  if (schema.anyOf !== undefined) return ofAnotherType;
  switch (schema.type) {
    case 'string':
      return fc.oneof(ofAnotherType, ...wrongString(schema, field));
    case 'integer':
    case 'number':
      return fc.oneof(ofAnotherType, ...wrongNumber(schema, field));
    case 'array':
      return fc.oneof(ofAnotherType, ...wrongArray(schema, field));
    case 'object':
      return fc.oneof(ofAnotherType, ...wrongObject(schema, field));
    default:
      return ofAnotherType;
  }
}
