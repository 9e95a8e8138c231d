import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type as TypeBox } from 'typebox';
import { Type } from './type.ts';

/** Each way in which schemas are made, with the one builder or the other. */
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
      // What is made from an optional one by hand is required again.
      by.Object({ text: by.Unsafe<string | null>({ ...by.Optional(text), nullable: true }) }),
    ],
    Optional: [by.Optional(text), by.Optional(by.Optional(text))],
    String: [by.String(), by.String({ format: 'date-time', type: 'text' })],
    Unsafe: [by.Unsafe<string>({ $ref: 'Text#' }), by.Unsafe<null>(text)],
  } satisfies Record<keyof typeof Type, unknown[]>;
}

test('schemas are made as TypeBox makes them, to the order of their fields', () => {
  const [ours, theirs] = [samples(Type), samples(TypeBox)];
  assert.deepEqual(Object.keys(ours).sort(), Object.keys(Type).sort());
  for (const [name, made] of Object.entries(ours)) {
    assert.equal(JSON.stringify(made), JSON.stringify(theirs[name as keyof typeof theirs]), name);
  }
});

test('a schema that is made optional is left as it is itself', () => {
  const text = Type.String();
  Type.Optional(text);
  assert.deepEqual(Type.Object({ text }).required, ['text']);
});
