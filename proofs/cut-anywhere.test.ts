import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cites } from '../requirements/cite.ts';
import { runProof } from './support/run-proof.ts';

test('a reader cut after any number of frames resumes to a stream byte-equal to the uncut one', async (t) => {
  cites(
    t,
    'contract-3-events',
    'contract-3-events-live',
    'contract-3-events-at-end',
    'contract-5-resumed',
    'contract-5-void',
    'contract-5-resumed-replayed',
  );
  const { code, stdout, stderr } = await runProof('cut-anywhere');
  assert.equal(code, 0, stderr);
  const [, frames, stored, live] =
    /^PROVED cut-anywhere frames=(\d+) stored_cuts=(\d+) live_cuts=(\d+) /m.exec(stdout) ?? [];
  assert.ok(Number(frames) > 40, stdout);
  assert.equal(Number(stored), 2 * (Number(frames) + 1));
  assert.equal(stored, live);
});

test('sees a server whose stored streams go on one event too late', async () => {
  const { code, stdout, stderr } = await runProof('cut-anywhere', '--fault', 'skip-events');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^a reader cut after \d+ frames and resumed [^:]+: expected `[^`]*` next, found `/m);
  assert.doesNotMatch(stdout, /PROVED/);
});
