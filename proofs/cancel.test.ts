import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProof } from './support/run-proof.ts';

test('a cancel is answered after the provider saw its connection closed, and cancels once and exactly', async () => {
  const { code, stdout, stderr } = await runProof('cancel');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^PROVED cancel rounds=5 cancelled=5 closedFirst=5 charged=\d+\n$/m);
});

test('sees a model that goes on behind a cancel', async () => {
  const { code, stdout, stderr } = await runProof('cancel', '--fault', 'deaf-model');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^round 1: provider sees its connection closed before the cancel is answered: expected within/);
  assert.doesNotMatch(stdout, /PROVED/);
});
