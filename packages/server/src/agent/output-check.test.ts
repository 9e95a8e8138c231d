import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkOutput } from './output-check.ts';
import type { OutputSchema, TeamAgent } from './team.ts';

const checked = (check: OutputSchema['check'], signal = new AbortController().signal) =>
  checkOutput(
    { output: { jsonSchema: {}, check } } as unknown as TeamAgent,
    { heldText: '{}', hasCalls: false },
    false,
    signal,
  );

test('an answer whose check throws is a wrong one', async () => {
  const thrown = () => {
    throw new Error('no connection.');
  };
  const expected = { text: '{}', problem: 'its check failed: no connection' };
  assert.deepEqual(await checked(thrown), expected);
  assert.deepEqual(await checked(async () => thrown()), expected);
  assert.equal(await checked((value) => ({ value })), null);
});

test('a check that never returns ends with its run', async () => {
  const run = new AbortController();
  const checking = checked(() => new Promise(() => {}), run.signal);
  run.abort(new Error('stopped'));
  await assert.rejects(checking, /stopped/);
});
