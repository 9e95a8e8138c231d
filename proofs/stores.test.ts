import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { s3Environment, sharedS3, stopOwnS3 } from '@runwire/test-kit';
import { missingService } from '../test/support/services.ts';
import { runProof } from './support/run-proof.ts';

const skip = (await missingService('s3')) ?? false;
after(stopOwnS3);
/** Both proofs ask one gateway. */
if (skip === false) process.env.TEST_S3 = s3Environment(await sharedS3());

test('files keep the same promises on the disk, on S3 directly and through this server', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('stores');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^The S3 gateway: ceph version \d/m);
  assert.match(stdout, /^disk (\d+), s3-direct \1, s3-through \1$/m);
  assert.match(stdout, /^PROVED stores disk=([1-9]\d*) s3_direct=\1 s3_through=\1$/m);
});

test('the proof fails on an S3 store that does not know the types of files', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('stores', '--fault', 'forget-types');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^s3-direct: what was written is there as it was, after a restart too: /m);
  assert.doesNotMatch(stdout, /PROVED/);
});
