import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProof } from './support/run-proof.ts';

test('a server killed at a wait point and started again contradicts itself nowhere', async () => {
  const { code, stdout, stderr } = await runProof('kill-anywhere');
  assert.equal(code, 0, stderr);
  const [, points, killed] = /^points (\d+) killed (\d+)$/m.exec(stdout) ?? [];
  assert.equal(killed, points);
  assert.ok(Number(points) >= 9, stdout);
  assert.match(stdout, new RegExp(`^PROVED kill-anywhere points=${points} killed=${killed} kills=\\d+\\n$`, 'm'));
});

test('sees a start that leaves the runs of its dead predecessor as they are', async () => {
  const { code, stdout, stderr } = await runProof('kill-anywhere', '--fault', 'leave-orphans');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /ended runs within \d+ ms of readiness: expected 1, found 0/);
  assert.doesNotMatch(stdout, /PROVED/);
});
