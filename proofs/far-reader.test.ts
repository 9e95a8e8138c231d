import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingService } from '../test/support/services.ts';
import { runProof } from './support/run-proof.ts';

const skip = (await missingService('postgres')) ?? false;

test('runs are read and cancelled on nodes that do not run them, with hints and without', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('far-reader');
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^PROVED far-reader nodes=3 runs=3 equal_streams=6 frames=\d+ median_ms=\d+ p99_ms=\d+ cancels=6 .*deaf_equal_streams=6 deaf_median_ms=\d+ .*\n$/m,
  );
});

test('sees a node that loses what it hears of runs of others', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('far-reader', '--fault', 'skip-chunk');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^streams (that came whole|equal to that of the node that runs it): expected \d, found \d\.$/m);
  assert.doesNotMatch(stdout, /PROVED/);
});
