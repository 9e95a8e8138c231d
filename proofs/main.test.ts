import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from '../test/support/cluster.ts';

const leavesAllOpen = fileURLToPath(new URL('./support/leaves-all-open.ts', import.meta.url));

test('a proof ends, passed or not, although it left a load and a server running, and says so', async () => {
  const outcomes = ['passes', 'falls-short'].map(async (outcome) => {
    const child = spawn(process.execPath, ['-C', 'runwire', leavesAllOpen, outcome], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 100_000,
      env: { ...process.env, TEST_FILE: process.argv[1] },
    });
    const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
    assert.match(stderr, /^The proof is over and left open: .*Timeout.* Its process is ended all the same\.\n$/m);
    const [dots = '', server, line] = stdout.split('\n');
    assert.equal(dots.length, 300_000, 'what it said is out, all of it');
    const pid = server?.replace('server ', '');
    await until('the server of the proof is gone', () => !existsSync(`/proc/${pid}`));
    return { code, line, stderr };
  });
  const [passed, failed] = await Promise.all(outcomes);
  assert.deepEqual([passed?.code, passed?.line], [0, 'PROVED leaves-all-open servers=1']);
  assert.deepEqual([failed?.code, failed?.line], [1, '']);
  assert.match(failed?.stderr ?? '', /^open handles: expected 0, found 3\.\n/);
});
