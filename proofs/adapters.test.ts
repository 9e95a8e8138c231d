import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProof } from './support/run-proof.ts';

test("the official client and our adapters read the same from the same bytes, in both of OpenAI's protocols", async () => {
  const { code, stdout, stderr } = await runProof('adapters');
  assert.equal(code, 0, stderr);
  const figures = ['responses', 'chat'].map((api) => `${api}_cuts=\\d+ ${api}_halts=\\d+ ${api}_reasoning_asked=4`);
  const [, streams] = new RegExp(`^PROVED adapters streams=(\\d+) ${figures.join(' ')}\n$`, 'm').exec(stdout) ?? [];
  assert.ok(Number(streams) >= 40, stdout);
});

test('sees a decoder that drops the last event', async () => {
  const { code, stdout, stderr } = await runProof('adapters', '--fault', 'drop-last-event');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^responses, plain by LF: failed: expected false, found true\.$/m);
  assert.doesNotMatch(stdout, /PROVED/);
});
