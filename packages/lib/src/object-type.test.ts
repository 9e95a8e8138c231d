import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withObjectType } from './object-type.ts';

test('a union of objects and a reference to an object get the type `object`', () => {
  const object = { type: 'object' };
  for (const schema of [
    { anyOf: [object, { allOf: [{ minProperties: 1 }, object] }] },
    { $ref: '#/$defs/a~1b', $defs: { 'a/b': { oneOf: [object] } } },
  ]) {
    assert.deepEqual(withObjectType(schema), { ...schema, type: 'object' });
  }
  assert.equal(withObjectType(object), object);
  for (const schema of [{}, { anyOf: [] }, { anyOf: [object, {}] }, { type: ['object', 'null'] }, { $ref: '#/a' }]) {
    assert.equal(withObjectType(schema), null, JSON.stringify(schema));
  }
  assert.equal(withObjectType({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }), null);
});
