import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cites } from '../requirements/cite.ts';
import { missingService } from '../test/support/services.ts';
import { runProof } from './support/run-proof.ts';

const skip = (await missingService('postgres')) ?? false;

test('a chat goes on when its links have expired, with copies kept, switched off and swept, on both stores', {
  skip,
}, async (t) => {
  cites(
    t,
    'contract-7-fetched-once',
    'contract-7-refreshes',
    'contract-7-refresh-missing',
    'contract-7-failed-turn',
    'contract-7-cancelled-turn',
  );
  const { code, stdout, stderr } = await runProof('refresh');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^PROVED refresh stores=2 modes=3 stable_turns=16 refused=22\n$/m);
});

for (const [fault, says] of [
  ['fetch-again', /^kept, expired: end: expected \["completed",null\], found \["failed"/m],
  ['forget-refreshes', /^off, expired and refreshed: end: expected \["completed",null\], found \["failed"/m],
  ['share-copies', /^copies of two integrations: expected \d+, found \d+\.$/m],
  ['take-any-key', /^a key of another chat: answer: expected \[400,"false"\], found \[200,"true"\]\.$/m],
] as const) {
  test(`sees the fault ${fault}`, { skip }, async () => {
    const { code, stdout, stderr } = await runProof('refresh', '--fault', fault);
    assert.equal(code, 1, stdout);
    assert.match(stderr, says);
    assert.doesNotMatch(stdout, /PROVED/);
  });
}
