import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type as TypeBox } from 'typebox';
import { Type } from './type.ts';

/** Schemas of every kind that we use, made with one of the two builders. */
function samples(by: typeof Type) {
  const text = by.String({ minLength: 1, description: 'A text.' });
  return {
    Array: [by.Array(text), by.Array(by.Integer(), { maxItems: 3 })],
    Boolean: [by.Boolean(), by.Boolean({ description: 'Yes or no.' })],
    Enum: [by.Enum(['a', 'b']), by.Enum(['a'], { type: 'string' })],
    Integer: [by.Integer(), by.Integer({ minimum: 0, default: 5 })],
    Number: [by.Number(), by.Number({ exclusiveMinimum: 0 })],
    Object: [
      by.Object({}),
      by.Object({ text, more: by.Optional(text) }, { additionalProperties: false }),
      by.Object({ more: by.Optional(by.Object({ inner: text })) }),
      by.Object({ text: by.Optional(by.Unsafe<string>({ $ref: 'Text#' })) }),
      // A copy of an optional schema is required again.
      by.Object({ text: by.Unsafe<string | null>({ ...by.Optional(text), nullable: true }) }),
    ],
    Optional: [by.Optional(text), by.Optional(by.Optional(text))],
    String: [by.String(), by.String({ format: 'date-time', type: 'text' })],
    Unsafe: [by.Unsafe<string>({ $ref: 'Text#' }), by.Unsafe<null>(text)],
  } satisfies Record<keyof typeof Type, unknown[]>;
}

test('builds the same schemas as TypeBox, in the same field order', () => {
  const [ours, theirs] = [samples(Type), samples(TypeBox)];
  assert.deepEqual(Object.keys(ours).sort(), Object.keys(Type).sort());
  for (const [name, made] of Object.entries(ours)) {
    assert.equal(JSON.stringify(made), JSON.stringify(theirs[name as keyof typeof theirs]), name);
  }
});

test('Optional does not change the schema that it is given', () => {
  const text = Type.String();
  Type.Optional(text);
  assert.deepEqual(Type.Object({ text }).required, ['text']);
});
