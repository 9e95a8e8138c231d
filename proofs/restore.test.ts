import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingService } from '../test/support/services.ts';
import { runProof } from './support/run-proof.ts';

const missing = await missingService('postgres');
const options = missing === null ? {} : { skip: missing };

test(
  'a back-up taken under load is of one moment: restored, everything agrees and every run ends',
  options,
  async () => {
    const { code, stdout, stderr } = await runProof('restore');
    assert.equal(code, 0, stderr);
    assert.match(
      stdout,
      /^PROVED restore stores=2 runs=\d+ unfinished=\d+ during=\d+ events=\d+ images=\d+ files=28\n$/m,
    );
  },
);

test('sees a back-up whose tables are of different moments', options, async () => {
  const { code, stdout, stderr } = await runProof('restore', '--fault', 'torn');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /: expected .*, found /);
  assert.doesNotMatch(stdout, /PROVED/);
});

test('sees a back-up without its images', options, async () => {
  const { code, stdout, stderr } = await runProof('restore', '--fault', 'forget-images');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /: expected .*, found /);
  assert.doesNotMatch(stdout, /PROVED/);
});

test('sees a back-up without its files', options, async () => {
  const { code, stdout, stderr } = await runProof('restore', '--fault', 'forget-files');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /files.*: expected .*, found /);
  assert.doesNotMatch(stdout, /PROVED/);
});
