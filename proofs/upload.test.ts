import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingService } from '../test/support/services.ts';
import { runProof } from './support/run-proof.ts';

const skip =
  (await missingService('chromium')) ?? (await missingService('s3')) ?? (await missingService('curl')) ?? false;

test('files arrive whole from curl, Node and a browser, on disk and on S3, and the agent reads them', {
  skip,
}, async () => {
  const { code, stdout, stderr } = await runProof('upload');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^PROVED upload places=3 senders=4 files=15 bytes=\d+ read_by_agent=12 too_large=3\n$/m);
});

test('sees a byte that is lost', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('upload', '--fault', 'lose-a-byte');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^bytes of .*: expected \d+, found \d+\.$/m);
  assert.doesNotMatch(stdout, /PROVED/);
});
