import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cites } from '../../../../requirements/cite.ts';
import { WaitingListener } from './waiting-listener.ts';

test('answers have the request id and report no admission while the start waits', async (t) => {
  cites(t, 'contract-3-request-id-of-caller');
  await using listener = await WaitingListener.start({ host: '127.0.0.1', port: 0 });
  const ask = (path: string, id: string) => fetch(listener.url + path, { headers: { 'x-request-id': id } });
  const completion = await ask('/get_completion_v2', 'mine-1');
  const admitted = completion.headers.get('x-agent-run-admitted');
  assert.deepEqual([completion.status, completion.headers.get('x-request-id'), admitted], [503, 'mine-1', 'false']);
  assert.equal((await ask('/healthz', 'mine-2')).headers.get('x-request-id'), 'mine-2');
  const [one, other] = await Promise.all([ask('/readyz', 'not visible'), ask('/readyz', 'not visible')]);
  assert.notEqual(one.headers.get('x-request-id'), other.headers.get('x-request-id'));
});
