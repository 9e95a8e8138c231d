import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProof } from './support/run-proof.ts';

test('bad input is refused by name, starts nothing and leaves nothing in memory', async () => {
  const { code, stdout, stderr } = await runProof('bad-input');
  assert.equal(code, 0, `${stdout}${stderr}`);
  assert.match(stdout, /^PROVED bad-input refused=\d+ generated=2000 accepted=\d+ connections=\d+ /m);
});

test('sees a server that takes a body of any depth', async () => {
  const { code, stdout, stderr } = await runProof('bad-input', '--fault', 'any-depth');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^status of POST \/get_completion_v2 .*: expected 400, found 200/m);
  assert.doesNotMatch(stdout, /PROVED/);
});
