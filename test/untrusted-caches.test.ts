import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiClient, hookStore, type Store, startTestServer } from '@runwire/test-kit';
import { DEFAULT_LIMITS } from '../packages/server/src/config/limits.ts';
import { StoreUnavailable } from '../packages/server/src/domain/unavailable.ts';
import { accountsState, raiseAccountsVersion, revokeKey } from '../packages/server/src/store/queries/accounts.ts';
import { eventually } from './support/eventually.ts';
import { refusal } from './support/scripted-server.ts';

const LIMIT_MS = 60_000;

/** A store whose reads can be made to fail or hang until `endHung`. `real` is the store as another node sees it. */
function breakable() {
  const hung = Promise.withResolvers<never>();
  hung.promise.catch(() => {});
  const state = { broken: null as null | 'fails' | 'hangs', real: null as Store | null, reads: 0, underWay: 0 };
  const hooked = hookStore({
    read: async (statement, read) => {
      // The server reads the version continuously.
      if (statement !== accountsState.name) state.reads += 1;
      if (state.broken === 'fails') throw new StoreUnavailable('The store is away.');
      if (state.broken === 'hangs') return hung.promise;
      state.underWay += 1;
      return await read().finally(() => {
        state.underWay -= 1;
      });
    },
  });
  const wrapStore = (store: Store): Store => {
    state.real = store;
    return hooked(store);
  };
  return { state, wrapStore, endHung: () => hung.reject(new StoreUnavailable('The store is away.')) };
}

const me = async (client: ApiClient) => (await client.get('/v2/me')).status;

test('the version of accounts is read every 2 s, and trusted for 5', () => {
  const { accountsVersionMs, accountsTrustedMs } = DEFAULT_LIMITS;
  assert.deepEqual([accountsVersionMs, accountsTrustedMs], [2000, 5000]);
});

for (const broken of ['fails', 'hangs'] as const) {
  test(`keys are not trusted for long if the store ${broken} to be read`, async () => {
    const { state, wrapStore, endHung } = breakable();
    const limits = { accountsVersionMs: 50, accountsTrustedMs: 500, accountsPatienceMs: 2000 };
    await using server = await startTestServer({ wrapStore, limits });
    const { api } = server;
    const { keyId, apiKey } = (await api.post('/v2/api_keys', { name: 'to be revoked' })).body;
    const client = api.as(apiKey);
    assert.deepEqual([await me(client), await me(api)], [200, 200]);

    state.broken = broken;
    // A version that is still being read would be trusted.
    await eventually('earlier reads have ended', async () => state.underWay === 0);
    // Another node revokes the key, and this node cannot learn of it.
    await state.real?.transact('account', async (tx) => {
      await tx.run(revokeKey, { keyId, now: Date.now() });
      await tx.run(raiseAccountsVersion, {});
    });
    const outOfReach = async (one: ApiClient) => {
      await eventually('not served any more', async () => (await me(one)) !== 200);
      const [answer, reader] = await Promise.all([
        one.get('/v2/me'),
        one.complete({ apiIntegrationId: 'demo', message: 'Hi' }),
      ]);
      const { status, headers, body } = answer;
      assert.deepEqual([status, body.code, headers.get('retry-after')], [503, 'unavailable', '1']);
      const refused = await refusal(reader);
      assert.deepEqual([refused.status, refused.body.code, refused.admitted], [503, 'unavailable', 'false']);
    };
    await Promise.all([outOfReach(client), outOfReach(api)]);

    state.broken = null;
    await eventually('it is back', async () => (await me(api)) === 200);
    for (let i = 0; i < 10; i += 1) assert.deepEqual([await me(client), await me(api)], [401, 200]);
    await eventually('keys are remembered again', async () => {
      const before = state.reads;
      return (await me(api)) === 200 && state.reads === before;
    });
    // A stop waits for the reads of the server's loops.
    endHung();
  });
}

test('a key that is revoked during its lookup is not remembered', async () => {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let holding = false;
  const wrapStore = hookStore({
    read: async (statement, read) => {
      const rows = await read();
      if (holding && statement === 'key by id') {
        holding = false;
        asked.resolve();
        await gate.promise;
      }
      return rows;
    },
  });
  const limits = { accountsVersionMs: 3_600_000, accountsTrustedMs: 3_600_000, accountsPatienceMs: LIMIT_MS };
  await using server = await startTestServer({ wrapStore, limits });
  const { keyId, apiKey } = (await server.api.post('/v2/api_keys', {})).body;
  const client = server.api.as(apiKey);
  holding = true;
  const first = me(client);
  await asked.promise;
  assert.equal((await server.api.delete(`/v2/api_keys/${keyId}`)).status, 204);
  gate.resolve();
  assert.equal(await first, 200, 'it was good when it was looked up');
  assert.equal(await me(client), 401);
});
