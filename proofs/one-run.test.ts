import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProof } from './support/run-proof.ts';

test('identical posts at once make one run, one model call and one usage record, also across kill -9', async () => {
  const { code, stdout, stderr } = await runProof('one-run');
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^PROVED one-run posts=100 runs=1 model_calls=1 usage_records=1 equal_streams=100 kill_posts=100 .*kill_runs=1 kill_model_calls=2 kill_usage_records=1 kill_equal_streams=100\n$/m,
  );
});

test('sees a server that forgets requests', async () => {
  const { code, stdout, stderr } = await runProof('one-run', '--fault', 'forget-requests');
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^(runs|usage records under the request's id): expected 1, found \d+\.$/m);
  assert.doesNotMatch(stdout, /PROVED/);
});

test('an unknown proof or fault is answered with the usage', async () => {
  for (const [name, ...options] of [
    ['no-such-proof'],
    ['one-run', '--fault', 'no-such-fault'],
    ['cancel', '--nodes', '3'],
  ] as const) {
    const { code, stderr } = await runProof(name, ...options);
    assert.equal(code, 2);
    assert.match(stderr, /Usage: npm run prove -- <name>/);
  }
});
