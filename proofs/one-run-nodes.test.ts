import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingService } from '../test/support/services.ts';
import { runProof } from './support/run-proof.ts';

const skip = (await missingService('postgres')) ?? false;

test('identical posts to three nodes at once make one run, though their admissions meet, also without hints', {
  skip,
}, async () => {
  const { code, stdout, stderr } = await runProof('one-run', '--nodes', '3');
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^PROVED one-run nodes=3 posts=100 runs=1 model_calls=1 usage_records=1 equal_streams=100 meetings=10 lock_waits=\d+ retries=\d+ deaf_runs=1 deaf_equal_streams=100 .*\n$/m,
  );
});

test('sees nodes that forget requests', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('one-run', '--nodes', '3', '--fault', 'forget-requests');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^(runs|usage records under the request's id): expected 1, found \d+\.$/m);
  assert.doesNotMatch(stdout, /PROVED/);
});
