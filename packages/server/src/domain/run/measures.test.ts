import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMeasuresJson } from './measures.ts';

test('adds to the text of sums, also if they are joined or written by PostgreSQL', () => {
  assert.equal(addMeasuresJson('{}', '{"d3":1}'), '{"d3":1}');
  const more = '{"d3":1,"cEUR":12,"failed":1},{"d3":4}';
  assert.equal(addMeasuresJson('{"md3":5,"d3":2,"cEUR":-12}', more), '{"md3":5,"d3":7,"cEUR":0,"failed":1}');
  assert.equal(addMeasuresJson('{"failed": 3, "d1": 10}', '{"d1":5,"f2":2}'), '{"failed": 3, "d1":15,"f2":2}');
  assert.equal(addMeasuresJson('{},{"d1":1},{}', '{"d2":2}'), '{},{"d1":1},{"d2":2}');
});
