import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { until } from '@runwire/test-kit/shortfall.ts';
import { PROMISES, PROOFS } from '../proofs/proof-table.ts';
import { problemIn, runProof } from '../proofs/run-proof.ts';
import { cites } from '../requirements/cite.ts';

const LIMIT_MS = 100_000;
const leavesAllOpen = fileURLToPath(new URL('../proofs/leaves-all-open.ts', import.meta.url));

test('a proof ends although it left a load and a server running', async () => {
  const outcomes = ['passes', 'falls-short'].map(async (outcome) => {
    const child = spawn(process.execPath, ['-C', 'runwire', leavesAllOpen, outcome], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: LIMIT_MS,
    });
    const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
    assert.match(stderr, /^The proof has finished but left open: .*Timeout.* Its process ends anyway\.\n$/m);
    const [dots = '', server, line] = stdout.split('\n');
    assert.equal(dots.length, 300_000, 'everything that it printed has arrived');
    const pid = server?.replace('server ', '');
    await until('the server of the proof has ended', () => !existsSync(`/proc/${pid}`));
    return { code, line, stderr };
  });
  const [passed, failed] = await Promise.all(outcomes);
  assert.deepEqual([passed?.code, passed?.line], [0, 'PROVED leaves-all-open servers=1']);
  assert.deepEqual([failed?.code, failed?.line], [1, '']);
  assert.match(failed?.stderr ?? '', /^open handles: expected 0, found 3\.\n/);
});

test('an unknown proof, fault or option is answered with the usage', async () => {
  const wrong = [['no-such-proof'], ['one-run', '--fault', 'no-such-fault'], ['cancel', '--nodes', '3']];
  for (const { code, stderr } of await Promise.all(wrong.map((args) => runProof(args, LIMIT_MS)))) {
    assert.equal(code, 2);
    assert.match(stderr, /Usage: npm run prove -- <name>/);
  }
});

test('a planted fault makes its proof exit 1 with the sentence of the fault', async (t) => {
  cites(t, 'contract-7-fetcher');
  const fault = 'first-address';
  const [passed, failed] = await Promise.all([
    runProof(['ssrf'], LIMIT_MS),
    runProof(['ssrf', '--short', '--fault', fault], LIMIT_MS),
  ]);
  assert.match(passed.stdout, /^PROVED ssrf tests=1 items=174 refused=144 .*real_sockets=0\n$/m);
  assert.equal(problemIn(passed, null), null);
  assert.equal(problemIn(failed, PROMISES.ssrf?.faults[fault] ?? null), null);
});

test('an outcome other than the expected one is a problem', () => {
  const proved = { code: 0, stdout: 'PROVED x runs=1\n', stderr: '' };
  const failed = { code: 1, stdout: '', stderr: 'runs: expected 1, found 2.\n' };
  assert.match(problemIn(failed, null) ?? '', /found exit 1/);
  assert.match(problemIn({ ...proved, stdout: '' }, null) ?? '', /expected exit 0 and PROVED/);
  assert.match(problemIn(proved, /^runs/) ?? '', /expected exit 1/);
  assert.match(problemIn(failed, /^calls: expected/m) ?? '', /expected a sentence like/);
  assert.equal(problemIn(failed, /^runs: expected 1/m), null);
});

test('every promise has at least one planted fault, and files that exist', () => {
  for (const name of Object.keys(PROMISES)) {
    const { files = [], faults = {} } = PROOFS.get(name) ?? {};
    assert.notEqual(Object.keys(faults).length, 0, name);
    assert.deepEqual(
      files.filter((file) => !existsSync(file)),
      [],
      name,
    );
  }
});
