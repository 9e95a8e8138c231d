import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProof } from './support/run-proof.ts';

test('after a cancel, a failure or a kill at any event, the next turn is one that OpenAI takes', async () => {
  const { code, stdout, stderr } = await runProof('heal');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^PROVED heal events=50 cancelled=9 failed=9 killed=4 interrupted=1\n$/m);
});

test('sees a history that leaves calls open', async () => {
  const { code, stdout, stderr } = await runProof('heal', '--fault', 'open-calls');
  assert.equal(code, 1, stdout);
  assert.match(
    stderr,
    /^cancel at event 21: what OpenAI says .*No tool output found for function call cancel-21-a, cancel-21-b/,
  );
  assert.doesNotMatch(stdout, /PROVED/);
});
