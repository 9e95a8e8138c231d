import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingService } from '../test/support/services.ts';
import { runProof } from './support/run-proof.ts';

const skip = (await missingService('postgres')) ?? false;

test('a crash of PostgreSQL at a COMMIT leaves no wrong answer', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('lost-commit');
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^PROVED lost-commit commits=7 crashes=7 under_load=0 ids_reused=[1-9]\d* requests=\d+ refused=[1-9]\d* unknown=\d+ runs=6 wrong_true=0 wrong_false=0 lost=0 stuck=0 holes=0\n$/m,
  );
});

test('the proof fails if a transaction id is taken for evidence', { skip }, async () => {
  const { code, stdout, stderr } = await runProof('lost-commit', '--fault', 'trust-xid');
  assert.equal(code, 1, stdout);
  // A heartbeat that commits before the crash keeps the id from being used again; then a later crash shows the fault.
  assert.match(stderr, /^(header `true` without a run|lost: .*|stuck: .*|holes: .*): expected \d+, found \d+\.$/m);
  assert.doesNotMatch(stdout, /PROVED/);
});
