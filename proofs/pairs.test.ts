import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingService } from '../test/support/services.ts';
import { runProof } from './support/run-proof.ts';

const skip = (await missingService('postgres')) ?? false;

test('two concurrent operations have the result of one of their orders', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('pairs');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^PROVED pairs stores=2 operations=\d+ pairs=9 rounds=3 mixed=0\n$/m);
});

test('sees operations that read outside their transaction', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('pairs', '--fault', 'read-then-write');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^mixed outcomes on the embedded store: expected 0, found [1-9]\d*\.$/m);
  assert.doesNotMatch(stdout, /PROVED/);
});
