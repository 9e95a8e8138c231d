import { namedSchemas } from '@runwire/contract/schemas';

/** The part of JSON Schema that the contract uses. */
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
  readonly minItems?: number;
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

/** A value with one mistake, and the name that a refusal must use for it; '' is the body itself. */
export interface Wrong {
  readonly value: unknown;
  readonly field: string;
}

export type Pick = <T>(from: readonly T[]) => T;
type Fields = Readonly<Record<string, unknown>>;

/** Picks at random, the same for the same seed. */
export function picker(seed: number): Pick {
  let state = seed;
  return (from) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return from[(state >>> 8) % from.length] as (typeof from)[number];
  };
}

const byId = new Map((namedSchemas as readonly JsonSchema[]).map((schema) => [`${schema.$id}#`, schema]));
const resolve = (schema: JsonSchema): JsonSchema =>
  schema.$ref === undefined ? schema : (byId.get(schema.$ref) ?? {});
const upTo = (count: number) => [...Array(count + 1).keys()];
const CHARACTERS = ['a', 'Z', '0', ' ', '"', '\\', 'é', '\u{1F600}', '\u2028'];
const toText = (length: number, pick: Pick) => Array.from({ length }, () => pick(CHARACTERS)).join('');
const LONG = 300;
const FORMATS: Readonly<Record<string, { good: string; wrong: readonly string[] }>> = {
  uri: { good: 'https://example.com/b?c=d', wrong: ['', 'no uri', '//example.com', 'https://a b', 'ü'] },
  'date-time': { good: '2030-01-01T00:00:00.000Z', wrong: ['', 'tomorrow', '2030-13-01T00:00:00Z', '2030-01-01'] },
  email: { good: 'ann@example.com', wrong: [] },
};
const OF_TYPE: Readonly<Record<string, readonly unknown[]>> = {
  string: ['', 'text', '5', 'null', '[object Object]'],
  number: [1.5, -0.25, 1e300],
  integer: [0, -1, 5, 2 ** 53],
  boolean: [true, false],
  array: [[], [[]], [null]],
  object: [{}, { type: 5 }, { constructor: 1 }, { toString: null }],
  null: [null],
};

function validString({ minLength = 0, maxLength = LONG, pattern, format }: JsonSchema, pick: Pick): string {
  if (format !== undefined && FORMATS[format] !== undefined) return FORMATS[format].good;
  const fits = (text: string) => pattern === undefined || new RegExp(pattern, 'u').test(text);
  // A random text almost never fits a pattern that lists the allowed characters.
  const fixed = pattern?.startsWith('^[^') === false ? ['abc', 'offline/demo'].find(fits) : undefined;
  if (fixed !== undefined) return fixed;
  for (;;) {
    const text = toText(minLength + pick(upTo(Math.min(20, maxLength - minLength))), pick);
    if (fits(text)) return text;
  }
}

/** Returns a value that the schema accepts. */
export function valid(given: JsonSchema, pick: Pick): unknown {
  const schema = resolve(given);
  const variants = schema.oneOf ?? schema.anyOf;
  if (schema.nullable === true && pick([true, false])) return null;
  if (variants !== undefined) return valid(pick(variants), pick);
  if (schema.enum !== undefined) return pick(schema.enum.filter((value) => value !== null));
  if (schema.type === 'string') return validString(schema, pick);
  if (schema.type === 'integer')
    return (schema.minimum ?? 0) + pick(upTo(Math.min(1000, (schema.maximum ?? 1000) - (schema.minimum ?? 0))));
  if (schema.type === 'number') return pick([0, 0.5, 3]);
  if (schema.type === 'boolean') return pick([true, false]);
  if (schema.type === 'array') {
    const isEmpty = (schema.minItems ?? 0) === 0 && pick(upTo(Math.min(schema.maxItems ?? 3, 3))) === 0;
    return isEmpty ? [] : [valid(schema.items ?? {}, pick)];
  }
  if (schema.type !== 'object') return pick([1, 'a', null, [1], { a: [1] }]);
  const { properties = {}, required = [] } = schema;
  const names = Object.keys(properties).filter((name) => required.includes(name) || pick([true, false]));
  return Object.fromEntries(names.map((name) => [name, valid(properties[name] ?? {}, pick)]));
}

function ownTypes({ type, properties, enum: values }: JsonSchema): string[] {
  if (type !== undefined) return [type];
  return properties === undefined && values === undefined ? Object.keys(OF_TYPE) : ['object'];
}

function getTypes(schema: JsonSchema): Set<string> {
  const variants = schema.oneOf ?? schema.anyOf;
  const types = variants?.flatMap((variant) => [...getTypes(resolve(variant))]) ?? ownTypes(schema);
  if (schema.nullable === true) types.push('null');
  if (types.includes('number')) types.push('integer');
  if (types.includes('integer')) types.push('number');
  return new Set(types);
}

const acceptsAll = (schema: JsonSchema): boolean => getTypes(schema).isSupersetOf(new Set(Object.keys(OF_TYPE)));

/** Values of the right type that break a limit. */
function outOfBounds(schema: JsonSchema, pick: Pick): unknown[] {
  const { type, minimum, maximum, minLength = 0, maxLength = LONG + 1, pattern, format = '' } = schema;
  const { items, minItems = 0, maxItems } = schema;
  if (schema.enum !== undefined) return ['', 'AUTO', ' low', 'input_audio', 'runs '];
  if (type === 'string') {
    const short = minLength > 0 ? [''] : [];
    const long = maxLength <= LONG ? [toText(maxLength + 1, pick)] : [];
    const controls = pattern === undefined ? [] : ['\0', 'a\nb', 'tab\t', '\u007f', '\u0085', '\u009f'];
    return [...short, ...long, ...controls, ...(FORMATS[format]?.wrong ?? [])];
  }
  if (type === 'integer' || type === 'number') {
    const low = minimum === undefined ? [] : [minimum - 1, -1e300];
    const high = maximum === undefined ? [] : [maximum + 1, 1e300];
    return [...(type === 'integer' ? [(minimum ?? 0) + 0.5] : []), ...low, ...high];
  }
  if (type !== 'array') return [];
  const few = minItems > 0 ? [[]] : [];
  return maxItems === undefined ? few : [...few, Array.from({ length: maxItems + 1 }, () => valid(items ?? {}, pick))];
}

const below = (field: string, name: string) => (field === '' ? name : `${field}.${name}`);

/** Returns a value that the schema refuses for exactly one reason. */
export function wrong(given: JsonSchema, field: string, pick: Pick): Wrong {
  const schema = resolve(given);
  const allowed = getTypes(schema);
  const ofOtherTypes = Object.entries(OF_TYPE).flatMap(([type, values]) => (allowed.has(type) ? [] : values));
  const bounds = outOfBounds(schema, pick);
  const ways: (() => Wrong)[] = [() => ({ value: pick(ofOtherTypes), field })];
  if (bounds.length > 0) ways.push(() => ({ value: pick(bounds), field }));
  if (schema.discriminator !== undefined) {
    const { propertyName } = schema.discriminator;
    const variant = resolve(pick(schema.oneOf ?? []));
    const { [propertyName]: discriminator, ...own } = variant.properties ?? {};
    const required = (variant.required ?? []).filter((name) => name !== propertyName);
    const types = ['input_audio', 'INPUT_FILE', '', 5, null, undefined];
    ways.push(() => {
      const value = { ...(valid(variant, pick) as Fields), [propertyName]: pick(types) };
      return { value, field: below(field, propertyName) };
    });
    ways.push(() => {
      const bad = wrongObject({ ...variant, properties: own, required }, field, pick);
      return { ...bad, value: { [propertyName]: discriminator?.enum?.[0], ...(bad.value as Fields) } };
    });
  }
  if (schema.type === 'object') ways.push(() => wrongObject(schema, field, pick));
  if (schema.type === 'array') {
    ways.push(() => {
      const before = (valid({ ...schema, maxItems: 1, nullable: false }, pick) as unknown[]).slice(
        0,
        (schema.maxItems ?? 4) - 1,
      );
      const bad = wrong(schema.items ?? {}, '', pick);
      const at = `${field}[${before.length}]`;
      return { value: [...before, bad.value], field: bad.field === '' ? at : below(at, bad.field) };
    });
  }
  return pick(ways)();
}

function wrongObject(schema: JsonSchema, field: string, pick: Pick): Wrong {
  const { properties = {}, required = [], additionalProperties } = schema;
  const good = valid({ ...schema, nullable: false }, pick) as Fields;
  const limited = Object.entries(properties).filter(([, own]) => !acceptsAll(resolve(own)));
  const ways: (() => Wrong)[] = limited.map(([name, own]) => () => {
    const bad = wrong(own, below(field, name), pick);
    return { value: { ...good, [name]: bad.value }, field: bad.field };
  });
  for (const name of required) {
    const { [name]: _, ...rest } = good;
    ways.push(() => ({ value: rest, field: below(field, name) }));
  }
  if (additionalProperties === false) {
    const name = pick(['extra', 'Type', 'constructor', 'ünknown']);
    ways.push(() => ({ value: { ...good, [name]: 1 }, field: below(field, name) }));
  } else if (typeof additionalProperties === 'object') {
    const key = 'https://example.com/a';
    ways.push(() => {
      const bad = wrong(additionalProperties, below(field, key), pick);
      return { ...bad, value: { [key]: bad.value } };
    });
  }
  return ways.length === 0 ? { value: 5, field } : pick(ways)();
}
