import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cites } from '../requirements/cite.ts';
import { runProof } from './support/run-proof.ts';

test('an owner that stalls and floods does not delay another owner', async (t) => {
  cites(t, 'contract-4-owner-half', 'contract-4-owner-queue');
  const { code, stdout, stderr } = await runProof('fair');
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^PROVED fair completions=12 refused=0 median_ms=\d+ p95_ms=\d+ max_ms=\d+ with_files=1 files_unread=0 files_max_ms=\d+ .*replays=\d+\n$/m,
  );
});

test('sees an owner that takes everything with several integrations', async () => {
  const { code, stdout, stderr } = await runProof('fair', '--fault', 'shared-by-integration');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^completions of the other owner refused: expected 0, found \d+\.$/m);
  assert.doesNotMatch(stdout, /PROVED/);
});
