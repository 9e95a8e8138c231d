import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { missingService } from '../test/support/services.ts';
import { runProof } from './support/run-proof.ts';

const missing = await missingService('postgres');
const skip = missing ?? false;
const repository = fileURLToPath(new URL('..', import.meta.url));
const store = './packages/server/src/store/postgres/postgres-store.ts';

/** By another road than the proof's: whether some commit before this one has the store, and another server around it. */
function hasEarlierVersion(): boolean {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: repository, encoding: 'utf8' });
  const commits = git('log', '--first-parent', '--skip=1', '--format=%H', '-n', '500').stdout ?? '';
  return commits.split('\n').some((commit) => {
    if (commit === '' || git('cat-file', '-e', `${commit}:${store}`).status !== 0) return false;
    return git('diff', '--quiet', commit, 'HEAD', '--', 'packages/server/src').status === 1;
  });
}

const isThere = hasEarlierVersion();

test('servers of an earlier version and of this one work on one database, and the runs of the old go on', {
  skip,
}, async () => {
  const { code, stdout, stderr } = await runProof('upgrade');
  assert.equal(code, 0, stderr);
  if (!isThere) {
    assert.match(stdout, /^LEFT OUT upgrade: .+\.\n$/);
    return;
  }
  assert.match(stdout, /^from [0-9a-f]{40}/);
  const [, runs, records, handedOver] =
    /^PROVED upgrade upgrades=1 posts=\d+ runs=(\d+) usage_records=(\d+) .*handed_over=(\d+) .*violations=0\n$/m.exec(
      stdout,
    ) ?? [];
  assert.ok(Number(runs) > 20, stdout);
  assert.equal(records, runs);
  assert.ok(Number(handedOver) >= 4, stdout);
});

const without = skip || (isThere ? false : 'this clone has no earlier version');

test('sees a server of this version that takes those of an earlier one for dead', { skip: without }, async () => {
  const { code, stdout, stderr } = await runProof('upgrade', '--fault', 'fence-old-nodes');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^Runs taken from a living server of the earlier version: expected 0, found run_/m);
  assert.doesNotMatch(stdout, /PROVED/);
});

test('sees a server of this version that does not know the requests of an earlier one', { skip: without }, async () => {
  const { code, stdout, stderr } = await runProof('upgrade', '--fault', 'forget-requests');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /run of request \S+, sent again: expected|expected one first answer, found two/);
  assert.doesNotMatch(stdout, /PROVED/);
});
