import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cites } from '../requirements/cite.ts';
import { runProof } from './support/run-proof.ts';

test('files by URL reach the model as they are or as text, and what cannot be had or read fails its run by name', async (t) => {
  cites(t, 'contract-7-fetcher', 'contract-7-url-unavailable');
  const { code, stdout, stderr } = await runProof('attachments');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^PROVED attachments kinds=19 sent=27 refused=29 lock_step_tokens=\d+\n$/m);
});

for (const [fault, says] of [
  ['skip-unreadable', /^chat, 404: what the provider was asked: expected null, found /m],
  ['leak-query', /^chat, 404: expected no query in the stream, found it\.$/m],
  ['convert-here', /^tokens beside the conversion: expected at least 20, found \d+\.$/m],
] as const) {
  test(`sees the fault ${fault}`, async () => {
    const { code, stdout, stderr } = await runProof('attachments', '--fault', fault);
    assert.equal(code, 1, stdout);
    assert.match(stderr, says);
    assert.doesNotMatch(stdout, /PROVED/);
  });
}
