import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingService } from '../test/support/services.ts';
import { knownToDiffer } from './support/post-policy/data.ts';
import { runProof } from './support/run-proof.ts';

const missing = await missingService('s3');
const options = missing === null ? {} : { skip: missing };

test(
  'the upload address answers as S3 does, and where a real gateway answers otherwise is known',
  options,
  async () => {
    const { code, stdout, stderr } = await runProof('post-policy');
    assert.equal(code, 0, `${stdout}${stderr}`);
    assert.match(stdout, /^ceph 20\/20 cases 173\/173$/m);
    // Not without the gateway, which the proof leaves out where it is not installed.
    const known = knownToDiffer.size;
    assert.match(stdout, new RegExp(`^PROVED post-policy ceph=20 cases=173 gateway=189 differ=${known}$`, 'm'));
  },
);

test('sees an address that takes fields of which the policy says nothing', async () => {
  const { code, stdout, stderr } = await runProof('post-policy', '--fault', 'take-extra-fields');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^aws\.uncovered_field: expected status 403, found 204/m);
  assert.doesNotMatch(stdout, /PROVED/);
});

test('sees a gateway that differs in one case more than is known', options, async () => {
  const { code, stdout, stderr } = await runProof('post-policy', '--fault', 'forget-difference');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^the gateway differs: expected in known cases alone, found ceph\.\S+ too\.$/m);
  assert.doesNotMatch(stdout, /PROVED/);
});

test('sees a case that is listed as differing and does not', options, async () => {
  const { code, stdout, stderr } = await runProof('post-policy', '--fault', 'invent-difference');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^the gateway differs: expected in all known cases, found ceph\.\S+ answered alike\.$/m);
  assert.doesNotMatch(stdout, /PROVED/);
});
