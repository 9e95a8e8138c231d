import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingService } from '../test/support/services.ts';
import { runProof } from './support/run-proof.ts';

const skip = (await missingService('postgres')) ?? false;

test('without its database no node takes over from another, no header is wrong, and all is settled after', {
  skip,
}, async () => {
  const { code, stdout, stderr } = await runProof('outage');
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^PROVED outage nodes=3 outage_s=\d+ requests=\d+ runs=\d+ in_flight=\d+ refused=\d+ unknown=\d+ wrong_true=0 wrong_false=0 taken_over=0 repeated=0 streams=\d+ slowest_ms=\d+ swallowed=\d+ .*swallowed_wrong_true=0 swallowed_wrong_false=0\n$/m,
  );
});

test('sees a server that says `false` where nobody knows', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('outage', '--fault', 'claims-false');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^swallowed: header `false` for an admitted run: expected 0, found \d+\.$/m);
  assert.doesNotMatch(stdout, /PROVED/);
});

test('sees servers that take each other for dead after an outage', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('outage', '--fault', 'fences-the-living');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^runs taken over: expected 0, found \d+\.$/m);
});
