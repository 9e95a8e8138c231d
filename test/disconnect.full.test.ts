import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { STORES, type StoreName } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { KillableServer } from './support/killable-server.ts';

const PATIENCE_MS = 1000;

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('SIGKILL is not a disconnect: the run continues after the restart', async (t) => {
    cites(t, 'contract-4-shutdown-no-disconnect');
    const env = { RUNWIRE_DRAIN_SECONDS: '0' };
    await using killable = await KillableServer.start({ store, env, limits: { disconnectMs: 40 } });
    await killable.api.post('/v2/integrations', { apiIntegrationId: 'mine', onDisconnect: 'cancel' });
    const { reader, call, runId } = await killable.hold({ apiIntegrationId: 'mine' });
    await call.text('Half');
    await reader.untilText('"Half"');
    await killable.process.kill('SIGKILL');
    assert.equal(await reader.over, false);
    await killable.startAgain();
    const replay = await killable.api.events(runId, null, 'mine');
    const again = await killable.controller.nextCall();
    await again.text('Whole');
    await again.end();
    await replay.whole();
    const { body } = await killable.api.get(`/v2/integrations/mine/runs/${runId}`);
    assert.deepEqual([body.status, body.message, body.cancelRequested], ['completed', 'Whole', null]);
  });

  test('a resumed run waits for readers again, and is cancelled if none connects', async (t) => {
    cites(t, 'contract-4-disconnect-cancel');
    await using killable = await KillableServer.start({ store });
    await killable.api.post('/v2/integrations', { apiIntegrationId: 'mine', onDisconnect: 'cancel' });
    const { runId } = await killable.hold({ apiIntegrationId: 'mine' });
    await killable.process.kill();
    await killable.startAgain({ limits: { disconnectMs: PATIENCE_MS } });
    const again = await killable.controller.nextCall();
    await again.closed;
    const { body } = await killable.api.post(`/v2/integrations/mine/runs/${runId}/cancel`);
    assert.deepEqual([body.status, body.cancelled], ['cancelled', true]);
  });
}
