import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingService } from '../test/support/services.ts';
import { runProof } from './support/run-proof.ts';

const skip = (await missingService('postgres')) ?? false;

test('a node that stood still past its lease writes, tells and calls nothing of its old attempts', {
  skip,
}, async () => {
  const { code, stdout, stderr } = await runProof('zombie');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^PROVED zombie points=3 stops=3 rows=0 frames=0 calls=0 files=1\n$/m);
});

test('sees transactions that do not lock the row of their node', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('zombie', '--fault', 'no-share-lock');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /rows and files of the old attempt after the takeover: expected 0, found 1\.$/m);
});
