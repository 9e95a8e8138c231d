import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { STORES, type StoreName, TEST_API_KEY } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { KillableServer } from './support/killable-server.ts';
import { messagesFrame, ScriptedServer } from './support/scripted-server.ts';

const PATIENCE_MS = 1000;
/** Long enough for a reader to reconnect in time on a busy machine. */
const LONG_PATIENCE_MS = 10_000;

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const server = ScriptedServer.shared({ store, limits: { disconnectMs: PATIENCE_MS } });

  async function getRun(integration: string, runId: string) {
    return (await server.api.get(`/v2/integrations/${integration}/runs/${runId}`)).body;
  }

  async function ended(integration: string, runId: string) {
    const reader = await server.api.events(runId, null, integration);
    await reader.whole();
    return getRun(integration, runId);
  }

  test('a run without readers is cancelled: intent, provider, text and charge', async (t) => {
    cites(t, 'contract-4-disconnect-cancel', 'contract-3-integration-run-limits');
    const allowances = { unit: 'tokens', limit: 1000, period: 'lifetime' };
    const integration = await server.metered(allowances, { onDisconnect: 'cancel' });
    assert.equal((await server.api.get(`/v2/integrations/${integration}`)).body.onDisconnect, 'cancel');
    const body = { apiIntegrationId: integration, consumerId: 'ann', usageRequestId: 'u' };
    const { reader, call, runId } = await server.hold(body);
    await call.text('Half a word');
    await reader.untilText('Half a word');
    reader.cut();
    await call.closed;
    const run = await ended(integration, runId);
    assert.deepEqual([run.status, run.message, run.error], ['cancelled', 'Half a word', null]);
    assert.equal(run.cancelRequested, 'immediate');
    const allowance = await server.allowance(integration);
    assert.deepEqual([allowance.reserved, allowance.used], [0, run.usage.total_tokens]);
    assert.ok(allowance.used > 0);
  });

  test('a revoked key ends its stream; the run and other readers continue', async (t) => {
    cites(t, 'contract-2-revoked-streams');
    const integration = await server.integration();
    const made = (await server.api.post('/v2/api_keys', {})).body;
    const { reader: others, call, runId } = await server.hold({ apiIntegrationId: integration });
    const reader = await server.api.as(made.apiKey).events(runId, null, integration);
    await call.text('one');
    await Promise.all([reader.untilText('"one"'), others.untilText('"one"')]);
    assert.equal((await server.api.delete(`/v2/api_keys/${made.keyId}`)).status, 204);
    assert.equal(await reader.over, false, 'the connection is cut');
    assert.ok(!reader.text.includes('event: messages'));
    await call.text('two');
    await call.end();
    assert.equal(await others.over, true);
    const run = await getRun(integration, runId);
    assert.deepEqual([run.status, run.message], ['completed', 'onetwo']);
  });

  test('no run continues if its caller leaves before the answer begins', async (t) => {
    cites(t, 'contract-4-disconnect-cancel');
    // This test has its own server: if the request starts no run, the wait for a call never ends.
    await using rig = await ScriptedServer.start({ store, limits: { disconnectMs: PATIENCE_MS } });
    const integration = await rig.integration({ onDisconnect: 'cancel' });
    const sent = request(`${rig.api.url}/get_completion_v2`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_API_KEY}`, 'content-type': 'application/json' },
    });
    sent.on('error', () => {});
    const flushed = new Promise<void>((resolve) =>
      sent.end(JSON.stringify({ apiIntegrationId: integration, message: 'Hi', usageRequestId: 'u' }), () => resolve()),
    );
    await flushed;
    const call = rig.controller.nextCall();
    // Event zero: some callers leave before the run exists, some after.
    sent.destroy();
    const outcome = await Promise.race([call, sleep(3 * PATIENCE_MS)]);
    if (outcome !== undefined) await outcome.closed;
    const { body } = await rig.api.get(`/v2/integrations/${integration}/chat_status?usageRequestId=u`);
    if (outcome === undefined) assert.equal(body.code, 'run_not_found');
    else {
      const events = await rig.api.events(body.run.runId, null, integration);
      await events.whole();
      assert.equal(messagesFrame(events).status, 'cancelled');
    }
    assert.equal(rig.server.server.probes.openStreams(), 0);
  });

  test('a replay or a resumed stream counts as a reader and keeps the run', async (t) => {
    cites(t, 'contract-4-disconnect-cancel');
    const integration = await server.integration({ onDisconnect: 'cancel' });
    const body = { apiIntegrationId: integration, usageRequestId: 'kept' };
    const { reader, call, runId } = await server.hold(body);
    const replay = await server.api.complete(body);
    reader.cut();
    await sleep(3 * PATIENCE_MS);
    await call.text('Still ');
    await replay.untilText('Still ');
    const resumed = await server.api.events(runId, 2, integration);
    replay.cut();
    await sleep(3 * PATIENCE_MS);
    await call.text('here');
    await call.end();
    await resumed.whole();
    assert.equal(messagesFrame(resumed).status, 'completed');
    assert.equal((await getRun(integration, runId)).message, 'Still here');
  });

  test('a reader that reconnects in time keeps the run', async (t) => {
    cites(t, 'contract-4-disconnect-cancel');
    await using patient = await ScriptedServer.start({ store, limits: { disconnectMs: LONG_PATIENCE_MS } });
    const integration = await patient.integration({ onDisconnect: 'cancel' });
    const { reader, call, runId } = await patient.hold({ apiIntegrationId: integration });
    reader.cut();
    const { probes } = patient.server.server;
    while (probes.openStreams() > 0) await sleep(20);
    const resumed = await patient.api.events(runId, 0, integration);
    await sleep(1.2 * LONG_PATIENCE_MS);
    assert.equal(call.isClosed, false);
    await call.text('Still here');
    await call.end();
    await resumed.whole();
    assert.equal(messagesFrame(resumed).status, 'completed');
  });

  test('a run without readers continues by default', async (t) => {
    cites(t, 'contract-4-disconnect-continue');
    const integration = await server.integration();
    const { reader, call, runId } = await server.hold({ apiIntegrationId: integration });
    reader.cut();
    await sleep(3 * PATIENCE_MS);
    assert.equal(call.isClosed, false);
    await call.text('Done');
    await call.end();
    assert.deepEqual((await ended(integration, runId)).message, 'Done');
  });

  test('SIGTERM is not a disconnect: the run continues after the restart', async (t) => {
    cites(t, 'contract-4-shutdown-no-disconnect');
    const env = { RUNWIRE_DRAIN_SECONDS: '0' };
    await using killable = await KillableServer.start({ store, env, limits: { disconnectMs: 40 } });
    await killable.api.post('/v2/integrations', { apiIntegrationId: 'mine', onDisconnect: 'cancel' });
    const { reader, call, runId } = await killable.hold({ apiIntegrationId: 'mine' });
    await call.text('Half');
    await reader.untilText('"Half"');
    await killable.process.kill('SIGTERM');
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
}
