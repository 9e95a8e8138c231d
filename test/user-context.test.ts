import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { KillableServer } from './support/killable-server.ts';
import { ScriptedServer } from './support/scripted-server.ts';

const SECRET = 'planted-secret-4711';
const body = { user_context: { token: SECRET } };

/** The run's row as it stands in the database's file. */
function rowOf(dataDir: string, runId: string): Readonly<Record<string, unknown>> {
  const database = new DatabaseSync(join(dataDir, 'runwire.db'), { readOnly: true });
  try {
    const row = database.prepare('select * from runs where run_id = ?').get(runId);
    assert.ok(row !== undefined);
    return row;
  } finally {
    database.close();
  }
}

const holdsSecret = (dataDir: string, runId: string) => JSON.stringify(rowOf(dataDir, runId)).includes(SECRET);

test('the context of a request is kept while its run runs, and not past its end, however that comes', async () => {
  await using rig = await ScriptedServer.start();
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
    assert.equal(holdsSecret(dataDir, held.runId), true);
    await end(held);
    await held.reader.whole();
    assert.deepEqual([rowOf(dataDir, held.runId).status, holdsSecret(dataDir, held.runId)], [status, false]);
  }
});

test('the context of a request goes with a run that lost its server and cannot go on', async () => {
  await using server = await KillableServer.start();
  const { runId, reader } = await server.hold({ apiIntegrationId: 'demo', ...body });
  assert.equal(holdsSecret(server.dataDir, runId), true);
  await server.process.kill();
  await reader.over;
  await server.startAgain({ limits: { maxAttempts: 1 } });
  assert.deepEqual([rowOf(server.dataDir, runId).status, holdsSecret(server.dataDir, runId)], ['failed', false]);
});
