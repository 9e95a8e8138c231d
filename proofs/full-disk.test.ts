import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LeftOut } from './support/proof.ts';
import { runProof } from './support/run-proof.ts';
import { SizedDisk } from './support/sized-disk.ts';

/** Why the proof cannot run here: only root may mount. In CI this throws, because no test is skipped there. */
function reasonToSkip(): string | false {
  try {
    SizedDisk.mount()[Symbol.dispose]();
    return false;
  } catch (error) {
    if (error instanceof LeftOut) return error.message;
    throw error;
  }
}

const skip = reasonToSkip();

test('a server lives through a full disk, and loses nothing', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('full-disk');
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^PROVED full-disk points=3 filled=3 runs=\d+ refused=\d+ checkpoints_failed=\d+ starts=1 failed_syncs=0 lost=0 died=0 wrong_header=0\n$/m,
  );
});

test('sees a server that ends when a checkpoint fails', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('full-disk', '--fault', 'die-on-checkpoint');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^died: expected 0, found 1\./m);
  assert.doesNotMatch(stdout, /PROVED/);
});
