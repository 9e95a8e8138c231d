import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { STORES, type StoreName } from '@runwire/test-kit';
import { askStore } from './support/ask-store.ts';
import { KillableServer } from './support/killable-server.ts';
import { ScriptedServer } from './support/scripted-server.ts';

const SECRET = 'planted-secret-4711';
const body = { user_context: { token: SECRET } };

/** The run's row as stored in the database. */
async function toRow(dataDir: string, runId: string): Promise<Readonly<Record<string, unknown>>> {
  const [row] = await askStore(dataDir, `select * from runs where run_id = '${runId}'`);
  assert.ok(row !== undefined);
  return row;
}

const holdsSecret = async (dataDir: string, runId: string) =>
  JSON.stringify(await toRow(dataDir, runId)).includes(SECRET);

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('the user context is stored until its run ends, however it ends', async () => {
    await using rig = await ScriptedServer.start({ store });
    const { dataDir } = rig.server;
    const ends = {
      completed: async ({ call }: Awaited<ReturnType<typeof rig.hold>>) => await call.end(),
      failed: async ({ call }: Awaited<ReturnType<typeof rig.hold>>) => await call.fail('model_error', 'No.'),
      cancelled: async ({ runId }: Awaited<ReturnType<typeof rig.hold>>) => {
        await rig.api.post(`/v2/integrations/demo/runs/${runId}/cancel`);
      },
    };
    for (const [status, end] of Object.entries(ends)) {
      const held = await rig.hold(body);
      assert.equal(await holdsSecret(dataDir, held.runId), true);
      await end(held);
      await held.reader.whole();
      assert.deepEqual(
        [(await toRow(dataDir, held.runId)).status, await holdsSecret(dataDir, held.runId)],
        [status, false],
      );
    }
  });

  test('the user context is deleted with a run that cannot be resumed', async () => {
    await using server = await KillableServer.start({ store });
    const { runId, reader } = await server.hold({ apiIntegrationId: 'demo', ...body });
    assert.equal(await holdsSecret(server.dataDir, runId), true);
    await server.process.kill();
    await reader.over;
    await server.startAgain({ limits: { maxAttempts: 1 } });
    assert.deepEqual(
      [(await toRow(server.dataDir, runId)).status, await holdsSecret(server.dataDir, runId)],
      ['failed', false],
    );
  });
}
