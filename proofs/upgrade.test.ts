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
const LEFT_OUT = /^LEFT OUT upgrade: .+\.\n$/;

test('servers of an earlier version and of this one work on one database, and the runs of the old go on', {
  skip,
}, async () => {
  const { code, stdout, stderr } = await runProof('upgrade');
  assert.equal(code, 0, stderr);
  if (!isThere) {
    assert.match(stdout, LEFT_OUT);
    return;
  }
  assert.match(stdout, /^from [0-9a-f]{40}/);
  const [, runs, records, handedOver] =
    /^PROVED upgrade upgrades=1 posts=\d+ runs=(\d+) usage_records=(\d+) .*handed_over=(\d+) model_calls=\d+ tool_calls=\d+\n$/m.exec(
      stdout,
    ) ?? [];
  assert.ok(Number(runs) > 20, stdout);
  assert.equal(records, runs);
  assert.ok(Number(handedOver) >= 4, stdout);
});

/** What the proof says with a planted fault; where there is nothing to plant it in, it says so. */
async function withFault(fault: string, expected: RegExp): Promise<void> {
  const { code, stdout, stderr } = await runProof('upgrade', '--fault', fault);
  assert.doesNotMatch(stdout, /PROVED/);
  assert.equal(code, isThere ? 1 : 0, `${stdout}${stderr}`);
  if (isThere) assert.match(stderr, expected);
  else assert.match(stdout, LEFT_OUT);
}

test('sees a server of this version that takes those of an earlier one for dead', { skip }, async () => {
  await withFault(
    'fence-old-nodes',
    // Which of them is found first is up to the earlier version: one that hears of it gives its runs up.
    /^(Runs taken from a living server of the earlier version: expected 0, found run_|living servers that were taken for dead: expected 0, found [1-9])/m,
  );
});
