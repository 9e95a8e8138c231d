import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProof } from './support/run-proof.ts';

test('whoever swaps folders and files of a mount for links leads no read and no write out of it', async () => {
  const { code, stdout, stderr } = await runProof('mount-race');
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^PROVED mount-race operations=200 reads=\d+ missed=\d+ writes=\d+ refused=\d+ swaps=\d+ outside_seen=0 outside_changed=0\n$/m,
  );
});

test('sees a store that goes by paths, and with them through links', async () => {
  const { code, stdout, stderr } = await runProof('mount-race', '--fault', 'plain-paths');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^outside_(seen|changed): expected 0, found \d+\.$/m);
  assert.doesNotMatch(stdout, /PROVED/);
});
