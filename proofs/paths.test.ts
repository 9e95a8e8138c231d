import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProof } from './support/run-proof.ts';

test('every bad path is refused and leaves nothing behind, every good one comes back byte for byte', async () => {
  const { code, stdout, stderr } = await runProof('paths');
  assert.equal(code, 0, `${stdout}${stderr}`);
  assert.match(stdout, /^PROVED paths items=108 reject=73 accept=10 safe=23 either=2 attachments=45 pairs=6$/m);
});

test('sees a server that takes what only looks like `..`', async () => {
  const { code, stdout, stderr } = await runProof('paths', '--fault', 'no-folding');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^status of path-098 .*: expected 400, found 200/m);
  assert.doesNotMatch(stdout, /PROVED/);
});

test('sees a server that signs for a file and a folder of one name', async () => {
  const { code, stdout, stderr } = await runProof('paths', '--fault', 'forget-forms');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^status of the second of two \(a file and a folder.*: expected 409, found 200/m);
  assert.doesNotMatch(stdout, /PROVED/);
});
