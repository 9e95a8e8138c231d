import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProof } from './support/run-proof.ts';

test('a run against a provider that misbehaves ends with a sentence to act on, settled, and the chat goes on', async () => {
  const { code, stdout, stderr } = await runProof('bad-models');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^PROVED bad-models bad_providers=34 protocols=2 runs=68 settled=68\n$/m);
});

test('sees a server that waits for a silent provider for ever', async () => {
  const { code, stdout, stderr } = await runProof('bad-models', '--fault', 'endless-patience');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^responses, a provider that hangs before its first byte: end of its stream: expected within/m);
  assert.doesNotMatch(stdout, /PROVED/);
});
