type Sees = (value: unknown) => boolean;

const isText: Sees = (value) => typeof value === 'string';
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isListOf = (sees: Sees) => (value: unknown) => Array.isArray(value) && value.every(sees);
const isCount: Sees = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const TYPES = new Set<unknown>(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

const KEYWORDS: Readonly<Record<string, Sees>> = {
  type: (value) => TYPES.has(value),
  title: isText,
  description: isText,
  // The draft decides about empty lists and about duplicates.
  enum: (value) => isListOf(isText)(value) && isSet(value as string[]) && (value as string[]).length > 0,
  required: (value) => isListOf(isText)(value) && isSet(value as string[]),
  minimum: Number.isFinite,
  maximum: Number.isFinite,
  minLength: isCount,
  maxLength: isCount,
  additionalProperties: (value) => typeof value === 'boolean',
  items: isPlain,
  properties: (value) => isObject(value) && Object.values(value).every(isPlain),
};

const isSet = (values: readonly string[]) => new Set(values).size === values.length;

/**
 * True if this is obviously valid JSON Schema in every draft, as the schemas of most tools are. Then the draft's own
 * schema need not be compiled at the start, which takes 50 ms of CPU.
 */
export function isPlain(schema: unknown): boolean {
  return (
    isObject(schema) &&
    Object.entries(schema).every(([keyword, value]) => Object.hasOwn(KEYWORDS, keyword) && KEYWORDS[keyword]?.(value))
  );
}
