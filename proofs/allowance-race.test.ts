import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProof } from './support/run-proof.ts';

test('of 20 requests at once a limit of 3 runs admits exactly 3, each time', async () => {
  const { code, stdout, stderr } = await runProof('allowance-race');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^PROVED allowance-race rounds=5 requests=100 admitted=15 refused=85 model_calls=15\n$/m);
});

test('sees a server whose runs hold nothing', async () => {
  const { code, stdout, stderr } = await runProof('allowance-race', '--fault', 'forget-holds');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^admitted in round 1: expected 3, found \d+\.$/m);
  assert.doesNotMatch(stdout, /PROVED/);
});
