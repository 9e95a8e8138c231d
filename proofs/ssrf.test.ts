import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cites } from '../requirements/cite.ts';
import { runProof } from './support/run-proof.ts';

test('what is not public is refused in every notation, by name and by redirect, and no packet is sent', async (t) => {
  cites(t, 'contract-7-fetcher');
  const { code, stdout, stderr } = await runProof('ssrf');
  assert.equal(code, 0, `${stdout}${stderr}`);
  assert.match(
    stdout,
    /^PROVED ssrf items=174 refused=144 fetched=8 failed=5 refreshes=17 dials=20 dialled_refused=0 loopback_dials=0 own_dials=0 real_sockets=0$/m,
  );
});

const SEEN: Readonly<Record<string, RegExp>> = {
  'first-address': /^outcome of ssrf-228 .*: expected refused or unresolved, found fetched/m,
  'unchecked-redirects': /^outcome of ssrf-242 .*: expected refused, found fetched/m,
  'dial-by-name': /^dials to loopback by a second resolution: expected 0, found 1/m,
  'mended-text': /^text of ssrf-030 .*: expected true, found false/m,
  'own-interfaces': /^outcome of an own address at https:\/\/own-0\.test\/a: expected refused, found fetched/m,
  'real-socket': /^real sockets and questions to name servers: expected 0, found [1-9]/m,
};

for (const [fault, expected] of Object.entries(SEEN)) {
  test(`sees a planted fault: ${fault}`, async () => {
    const { code, stdout, stderr } = await runProof('ssrf', '--fault', fault);
    assert.equal(code, 1, stdout);
    assert.match(stderr, expected);
    assert.doesNotMatch(stdout, /PROVED/);
  });
}
