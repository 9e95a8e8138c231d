import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { describe, test } from 'node:test';
import {
  ModelController,
  STORES,
  type StoreName,
  scriptedModel,
  startTestServer,
  temporaryFolder,
} from '@runwire/test-kit';
import { leaveBehind, reading } from './support/left-behind.ts';
import { ScriptedServer } from './support/scripted-server.ts';

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('an unreadable run ends, and the server starts with the others', async () => {
    await using controller = await ModelController.start();
    const dataDir = temporaryFolder();
    const [unreadable, whole, torn] = await leaveBehind(controller, ['unreadable', 'whole', 'torn'], {
      dataDir,
      store,
    });
    const wrapStore = reading(async (statement, params, rows) => {
      const { runId } = params as { runId?: string };
      if (statement === 'all chunks' && runId === unreadable) return rows.map((row) => ({ ...row, data: '{"not' }));
      return statement === 'unfinished run' && runId === torn ? [] : rows;
    });
    {
      await using rig = await ScriptedServer.start({ store, dataDir, wrapStore });
      assert.deepEqual([rig.server.server.resumedRuns, rig.server.server.endedRuns], [1, 1]);
    }
    await using again = await startTestServer({ store, dataDir, model: scriptedModel(controller.port) });
    assert.equal(again.server.resumedRuns, 2, 'what was only passed over is found again');
    const run = async (id = '') => (await again.api.get(`/v2/integrations/demo/runs/${id}`)).body;
    const { status, error } = await run(unreadable);
    assert.deepEqual([status, error.code], ['failed', 'run_interrupted']);
    assert.match(error.message, /its stored data cannot be read/);
    controller.answerAll('Done');
    for (const id of [whole, torn]) {
      const events = await again.api.events(id ?? '', 0);
      await events.whole();
      assert.equal((await run(id)).status, 'completed');
    }
    const next = await again.api.complete({ chatId: 'unreadable' });
    await next.whole();
    assert.equal(next.answer, 'Done');
    await again[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true });
  });
}
