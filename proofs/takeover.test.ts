import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingService } from '../test/support/services.ts';
import { runProof } from './support/run-proof.ts';

const skip = (await missingService('postgres')) ?? false;

test('the runs of a killed node complete on the others, repeat nothing finished, and their readers have all', {
  skip,
}, async () => {
  const { code, stdout, stderr } = await runProof('takeover');
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^PROVED takeover kills=2 runs=12 completed=12 repeated=0 void_frames=\d+ stored_void=\d+ exact_usage=\d+ tokens=270 last_end_ms=\d+ /m,
  );
});

test('sees nodes that leave the runs of a dead one as they are', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('takeover', '--fault', 'leave-orphans');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^runs completed elsewhere within \d+ ms: expected 6, found 0\.$/m);
});
