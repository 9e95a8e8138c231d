import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { hookStore, startTestServer } from '@runwire/test-kit';
import { StoreUnavailable } from '../packages/server/src/domain/unavailable.ts';
import { cites } from '../requirements/cite.ts';

/** A store whose writes can be made to fail or hang. */
function breakable() {
  const state = { broken: null as null | 'fails' | 'hangs', transactions: 0 };
  const wrapStore = hookStore({
    transact: (_, transact) => {
      state.transactions += 1;
      if (state.broken === 'fails') return Promise.reject(new StoreUnavailable('The disk is full.'));
      return state.broken === 'hangs' ? new Promise(() => {}) : transact();
    },
  });
  return { state, wrapStore };
}

for (const broken of ['fails', 'hangs'] as const) {
  test(`readiness reports a store that ${broken} to write, and its return`, async (t) => {
    cites(t, 'contract-3-health');
    const { state, wrapStore } = breakable();
    await using server = await startTestServer({ wrapStore });
    const nobody = server.api.as(null);
    const until = async (status: number) => {
      for (;;) {
        const answer = await nobody.get('/readyz');
        if (answer.status === status) return answer;
        await sleep(50);
      }
    };
    await until(200);
    state.broken = broken;
    const { body, headers } = await until(503);
    assert.deepEqual([body.code, headers.get('retry-after')], ['unavailable', '1']);
    assert.equal((await nobody.get('/healthz')).status, 200, 'the process is alive all the same');
    state.broken = null;
    await until(200);
  });
}

test('frequent readiness requests of any caller do not load the store', async (t) => {
  cites(t, 'contract-3-health');
  const { state, wrapStore } = breakable();
  await using server = await startTestServer({ wrapStore });
  const before = state.transactions;
  const startedAt = performance.now();
  const answers = await Promise.all(Array.from({ length: 100 }, () => server.api.as(null).get('/readyz')));
  const seconds = Math.ceil((performance.now() - startedAt) / 1000);
  assert.ok(answers.every(({ status }) => status === 200));
  assert.ok(state.transactions - before <= seconds + 1, `${state.transactions - before} in ${seconds} s`);
});
