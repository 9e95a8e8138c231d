import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { isPlain } from './plain-schema.ts';

const drafts = [new Ajv({ strict: false }), new Ajv2020({ strict: false })];

test('the schemas of common tools are plainly valid', () => {
  const zip = { type: 'string', minLength: 0, maxLength: 5 };
  const city = { type: 'string', description: 'Where?', enum: ['Athens', 'Rome'] };
  const days = { type: 'array', items: { type: 'integer', minimum: 1, maximum: 7 } };
  assert.ok(isPlain({ type: 'object' }));
  assert.ok(
    isPlain({ type: 'object', properties: { city, zip, days }, required: ['city'], additionalProperties: false }),
  );
});

test('leaves unknown keywords to the draft', () => {
  for (const schema of [
    null,
    [],
    'object',
    { type: 'text' },
    { type: ['object'] },
    { pattern: '[' },
    { $ref: '#/nowhere' },
    { constructor: {} },
    { required: ['a', 'a'] },
    { enum: [] },
    { minimum: '1' },
    { minLength: -1 },
    { maxLength: 1.5 },
    { maxLength: '1' },
    { properties: { a: { type: 'text' } } },
    { items: { items: { required: 'a' } } },
  ]) {
    assert.equal(isPlain(schema), false, JSON.stringify(schema));
  }
});

test('a plainly valid schema is valid in both drafts', () => {
  const keywords = [
    'type',
    'title',
    'description',
    'enum',
    'required',
    'minimum',
    'additionalProperties',
    'items',
    'minLength',
  ];
  const { schema } = fc.letrec((tie) => ({
    value: fc.oneof(
      fc.constantFrom('object', 'string', '', 'text', 0, -1, 1.5, Number.NaN, true, null),
      fc.array(fc.constantFrom('a', 'b', 1), { maxLength: 3 }),
      tie('schema'),
    ),
    schema: fc.dictionary(fc.constantFrom(...keywords, 'maximum', 'properties', 'a'), tie('value'), { maxKeys: 3 }),
  }));
  let plain = 0;
  fc.assert(
    fc.property(schema, (made) => {
      if (!isPlain(made)) return;
      plain += 1;
      for (const draft of drafts) assert.ok(draft.validateSchema(made as object), draft.errorsText());
    }),
    { numRuns: 3000 },
  );
  assert.ok(plain > 50, `${plain}`);
});
