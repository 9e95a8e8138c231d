import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingService } from '../test/support/services.ts';
import { runProof } from './support/run-proof.ts';

const missing = await missingService('nginx');
const options = missing === null ? {} : { skip: missing };

test('every client reads every token at once through nginx as Debian ships it', options, async () => {
  const { code, stdout, stderr } = await runProof('clients');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^PROVED clients clients=6 tokens=120 resumed=3 resumed_themselves=2\n$/m);
});

test('sees a proxy that holds the stream back', options, async () => {
  const { code, stdout, stderr } = await runProof('clients', '--fault', 'held-back');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /at curl: expected within \d+ ms, found later/);
  assert.doesNotMatch(stdout, /PROVED/);
});
