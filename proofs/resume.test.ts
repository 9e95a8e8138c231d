import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProof } from './support/run-proof.ts';

test('a run whose server is killed goes on at the next start, without repeating what it had finished', async () => {
  const { code, stdout, stderr } = await runProof('resume');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^PROVED resume kills=6 completed=6 repeated=0 void_frames=\d+ exact_usage=[3-6]\n$/m);
});

test('sees a taker that does not know what was finished', async () => {
  const { code, stdout, stderr } = await runProof('resume', '--fault', 'forget-journal');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^kill at event \d+: calls of finished steps repeated: expected 0, found \d+\.$/m);
  assert.doesNotMatch(stdout, /PROVED/);
});
