import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newReplay } from './replays.ts';

const prefix = { model: 'own/model', head: [], prompt: [] };
const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

test('a response that cannot be stored is not sent back', () => {
  assert.deepEqual(newReplay(prefix, nested(500))?.body, nested(500));
  assert.equal(newReplay(prefix, nested(501)), null);
  assert.equal(newReplay(prefix, nested(100_000)), null, 'JSON.stringify throws');
  assert.equal(newReplay(prefix, ['x'.repeat(1024 * 1024)]), null);
});
