import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { validateJsonSchema } from './json-schema.ts';
import { linearCheck } from './linear-check.ts';

const accepts = (schema: object, value: unknown) => 'value' in linearCheck({ ...schema })(value);

test('names the place and the fault', () => {
  const schema = { type: 'object', required: ['a'], properties: { a: { items: { type: ['integer', 'null'] } } } };
  const check = linearCheck(schema);
  assert.deepEqual(check({}), { problem: 'input must have the property `a`' });
  assert.deepEqual(check({ a: [1, null, 'x'] }), { problem: 'input/a/2 must be integer or null' });
  assert.deepEqual(check({ a: [1, null] }), { value: { a: [1, null] } });
});

const KEYS = ['a', 'b'];
const leaf = fc.constantFrom<unknown>('a', 'ab', '😀', '', 0, 1, 1.5, true, null);

function anySchema(depth: number): fc.Arbitrary<object> {
  const keywords = {
    type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'object', 'array', 'null', ['string', 'object']),
    enum: fc.array(leaf, { minLength: 1, maxLength: 3 }),
    required: fc.subarray(KEYS),
    minimum: fc.constantFrom(0, 1),
    maximum: fc.constantFrom(0, 1),
    minLength: fc.constantFrom(0, 1, 2),
    maxLength: fc.constantFrom(0, 1, 2),
    additionalProperties: fc.boolean(),
  };
  const inner = depth === 0 ? {} : { properties: fc.record({ a: anySchema(depth - 1) }), items: anySchema(depth - 1) };
  const one = Object.entries({ ...keywords, ...inner }).map(([key, value]) => fc.record({ [key]: value }));
  return fc.array(fc.oneof(...one), { maxLength: 3 }).map((parts) => Object.assign({}, ...parts));
}

function anyValue(depth: number): fc.Arbitrary<unknown> {
  if (depth === 0) return leaf;
  const inner = anyValue(depth - 1);
  return fc.oneof(leaf, fc.array(inner, { maxLength: 2 }), fc.dictionary(fc.constantFrom(...KEYS), inner));
}

test('decides like Ajv about the keywords that it knows', () => {
  const ajv = new Ajv({ strict: false, validateSchema: false });
  const verdicts = { accepted: 0, refused: 0 };
  fc.assert(
    fc.property(anySchema(1), anyValue(2), (schema, value) => {
      const expected = ajv.compile(schema)(value);
      verdicts[expected ? 'accepted' : 'refused'] += 1;
      assert.equal(accepts(schema, value), expected);
    }),
    { numRuns: 300 },
  );
  assert.ok(verdicts.accepted > 20 && verdicts.refused > 20, JSON.stringify(verdicts));
});

test('a keyword that it ignores refuses nothing', () => {
  const accepted: readonly (readonly [object, unknown])[] = [
    [{ pattern: '^(a+)+$' }, `${'a'.repeat(40)}!`],
    [{ format: 'email' }, 'x'],
    [{ uniqueItems: true }, [1, 1]],
    [{ $ref: '#' }, 1],
    [{ properties: { a: { anyOf: [{ type: 'string' }] } } }, { a: 1 }],
    [{ enum: [[1], 2] }, 3],
    [{ type: 'string', nullable: true }, null],
    [{ patternProperties: { '^x': {} }, additionalProperties: false }, { x1: 1 }],
    [{ prefixItems: [{ type: 'string' }], items: { type: 'number' } }, ['a', 1]],
  ];
  for (const [schema, value] of accepted) assert.ok(accepts(schema, value), JSON.stringify(schema));
});

test('a large schema is validated and used without long work', () => {
  const numbers = Array.from({ length: 10_000 }, (_, index) => index);
  const names = numbers.map((number) => `n${number}`);
  const startedAt = performance.now();
  for (const list of [numbers, numbers.map((number) => [number])]) validateJsonSchema({ enum: list });
  const check = linearCheck({ items: { enum: names } });
  const many = Array.from({ length: 100_000 }, () => 'n9999');
  assert.ok('value' in check(many));
  // Pairs of all values would take a minute.
  assert.ok(performance.now() - startedAt < 5000);
});
