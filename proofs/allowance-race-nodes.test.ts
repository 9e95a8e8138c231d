import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingService } from '../test/support/services.ts';
import { runProof } from './support/run-proof.ts';

const skip = (await missingService('postgres')) ?? false;

test('a limit of 3 runs admits exactly 3 of 20 requests spread over three nodes, whose admissions wait for each other', {
  skip,
}, async () => {
  const { code, stdout, stderr } = await runProof('allowance-race', '--nodes', '3');
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^PROVED allowance-race nodes=3 rounds=5 requests=100 admitted=15 refused=85 model_calls=15 lock_waits=\d+ retries=\d+ deaf_admitted=15 .*\n$/m,
  );
});

test('sees nodes whose runs hold nothing', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('allowance-race', '--nodes', '3', '--fault', 'forget-holds');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^admitted in round 1: expected 3, found \d+\.$/m);
  assert.doesNotMatch(stdout, /PROVED/);
});
