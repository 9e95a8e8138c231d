import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cites } from '../requirements/cite.ts';
import { runProof } from './support/run-proof.ts';

test('a clone starts, answers the printed curl with a whole stream, and ends by SIGTERM', async (t) => {
  cites(t, 'contract-1-run', 'contract-1-first-curl');
  const { code, stdout, stderr } = await runProof('fresh-clone');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^PROVED fresh-clone node=\d+ started=1 streamed=1 frames=\d+ stopped=1\n$/m);
});

test('sees a clone whose printed curl brings no stream', async () => {
  const { code, stdout, stderr } = await runProof('fresh-clone', '--fault', 'broken-start');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^first and last frame of the stream: expected \["meta","end"\], found /m);
  assert.doesNotMatch(stdout, /PROVED/);
});
