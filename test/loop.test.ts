import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '@runwire/contract/schemas';
import { proof } from '../proofs/loop.ts';

test('no operation holds the event loop', async () => {
  const figures = await proof.run({ fault: null, nodes: null, scale: (small) => small });
  const missing = Object.keys(operations).filter((operationId) => figures[`longest_ms_${operationId}`] === undefined);
  assert.deepEqual(missing, []);
});
