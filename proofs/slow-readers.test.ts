import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cites } from '../requirements/cite.ts';
import { runProof } from './support/run-proof.ts';

test('blocked readers grow no memory and slow nobody, and read on to the whole stream', async (t) => {
  cites(t, 'contract-5-slow-reader');
  const { code, stdout, stderr } = await runProof('slow-readers');
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^PROVED slow-readers runs=1 run_mb=20 readers=20 blocked=20 extra_mb=-?\d+ large_blocked=20 large_extra_mb=-?\d+ lock_step_tokens=100 caught_up=2 disconnected_and_resumed=1\n$/m,
  );
});

test('sees a server that keeps in memory what its readers do not read', async () => {
  const { code, stdout, stderr } = await runProof('slow-readers', '--fault', 'unbounded-readers');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^extra_mb: expected at most 100, found \d+\.$/m);
  assert.doesNotMatch(stdout, /PROVED/);
});
