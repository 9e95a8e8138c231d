import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cites } from '../requirements/cite.ts';
import { KillableServer } from './support/killable-server.ts';
import { messagesFrame } from './support/scripted-server.ts';

test('at SIGTERM cuts a running stream without `end`, and the next start ends its run', async (t) => {
  cites(t, 'contract-5-meta-once', 'contract-5-resumed', 'contract-8-stream-run-interrupted');
  await using server = await KillableServer.start({ env: { RUNWIRE_DRAIN_SECONDS: '0' } });
  await server.metered();
  const body = { apiIntegrationId: 'mine', consumerId: 'ann', usageRequestId: 'u1', chatId: 'c1' };
  const { reader, call, runId } = await server.hold(body);
  await call.text('Half');
  await reader.untilText('"Half"');
  await server.process.kill('SIGTERM');
  assert.equal(await server.process.gone, null, 'it ended by itself');
  assert.equal(await reader.over, false, 'the answer did not come whole');
  assert.ok(!reader.text.includes('event: messages') && !reader.text.includes('event: end'));
  await call.closed;

  await server.startAgain();
  const { body: status } = await server.api.get('/v2/integrations/mine/chat_status?usageRequestId=u1');
  assert.deepEqual([status.status, status.run.status, status.run.error.code], ['idle', 'failed', 'run_interrupted']);
  const rest = await server.api.events(runId, reader.frames.at(-1)?.id ?? 0, 'mine');
  const frames = await rest.whole();
  assert.deepEqual(
    frames.map(({ event }) => event),
    ['resumed', null, 'messages', 'end'],
  );
  assert.equal(messagesFrame(rest).status, 'failed');
  const { body: member } = await server.api.get('/v2/integrations/mine/members/ann');
  assert.deepEqual([member.allowance.used, member.allowance.reserved], [0, 0]);
  const next = await server.hold({ ...body, usageRequestId: 'u2' });
  await next.call.end();
  await next.reader.whole();
  assert.equal(messagesFrame(next.reader).status, 'completed');
});

test('at SIGTERM ends at once where nothing runs, also with connections kept open', async () => {
  await using server = await KillableServer.start();
  const health = await server.api.get('/healthz');
  assert.equal(health.status, 200);
  await server.process.kill('SIGTERM');
  assert.equal(await server.process.gone, null);
  await assert.rejects(server.api.get('/healthz'));
});
