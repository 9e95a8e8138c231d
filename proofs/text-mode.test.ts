import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cites } from '../requirements/cite.ts';
import { runProof } from './support/run-proof.ts';

test('text is the text of the log, and only that of a completed run ends well for curl and fetch', async (t) => {
  cites(t, 'contract-5-text-only', 'contract-5-text-only-end', 'contract-5-text-only-replay');
  const { code, stdout, stderr } = await runProof('text-mode');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^PROVED text-mode rounds=1 equal=84 normal_ends=28 abnormal_ends=56 void_ends=6 anew=2\n$/m);
});

test('sees text of a failed run that ends well', async () => {
  const { code, stdout, stderr } = await runProof('text-mode', '--fault', 'hide-failures');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^failed after 0 words: normal ends: expected 0, found 1\.$/m);
  assert.doesNotMatch(stdout, /PROVED/);
});
