import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CommitUnknown, hookStore, STORES, type StoreName, StoreUnavailable } from '@runwire/test-kit';
import { until } from '@runwire/test-kit/shortfall.ts';
import { refusal, ScriptedServer } from './support/scripted-server.ts';

/**
 * A store that commits the first admission and reports an unknown outcome. `looked` is called after each query for the
 * run, and may fail it.
 */
function unsure(looked: (times: number, runId: string) => Promise<void>) {
  let isUnsure = true;
  let times = 0;
  return hookStore({
    read: async (statement, read, params) => {
      const rows = await read();
      if (statement === 'unfinished run') {
        times += 1;
        await looked(times, (params as { runId: string }).runId);
      }
      return rows;
    },
    transact: async (name, transact) => {
      const value = await transact();
      if (name !== 'admit' || !isUnsure) return value;
      isUnsure = false;
      throw new CommitUnknown(Promise.resolve(true));
    },
  });
}

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('a run with a late admission starts, however often the store is away', async () => {
    const wrapStore = unsure(async (times) => {
      if (times <= 2) throw new StoreUnavailable('away');
    });
    await using rig = await ScriptedServer.start({ store, wrapStore });
    assert.equal((await refusal(await rig.api.complete({ usageRequestId: 'u' }))).status, 503);
    const call = await rig.controller.nextCall();
    await call.text('After all');
    await call.end();
    const replay = await rig.api.complete({ usageRequestId: 'u' });
    await replay.whole();
    assert.deepEqual([replay.headers['x-run-replayed'], replay.answer], ['true', 'After all']);
  });

  test('a run with a late admission can be cancelled just before its start', async () => {
    let rig: ScriptedServer | null = null;
    const run = (runId: string) => `/v2/integrations/demo/runs/${runId}`;
    const cancelled = Promise.withResolvers<string>();
    const wrapStore = unsure(async (times, runId) => {
      if (times !== 1) return;
      assert.equal((await rig?.api.post(`${run(runId)}/cancel`, {}))?.body.status, 'cancelling');
      cancelled.resolve(runId);
    });
    await using server = await ScriptedServer.start({ store, wrapStore });
    rig = server;
    assert.equal((await refusal(await server.api.complete({ usageRequestId: 'u' }))).status, 503);
    const runId = await cancelled.promise;
    await until('the run is cancelled', async () => (await server.api.get(run(runId))).body.status === 'cancelled');
  });
}
