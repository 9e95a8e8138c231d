import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SCRIPTED_USAGE, STORES, type StoreName, withoutComments } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { KillableServer } from './support/killable-server.ts';
import { messagesFrame } from './support/scripted-server.ts';

const MINE = { apiIntegrationId: 'mine', consumerId: 'ann', chatId: 'c1' };
const BELOW = '/v2/integrations/mine';
const NEVER_BY_THE_CLOCK = { flushMs: 600_000 };

const usedIn = async (server: KillableServer, unit: string) => {
  await server.api.patch(BELOW, { allowances: { unit, limit: 100_000, period: 'lifetime' } });
  const { used, reserved } = (await server.api.get(`${BELOW}/members/ann`)).body.allowance;
  return { used, reserved };
};

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('a run with too many crashes ends as interrupted, and its chat continues', async (t) => {
    cites(
      t,
      'contract-5-resumed',
      'contract-5-void',
      'contract-5-resumed-replayed',
      'contract-5-ids',
      'contract-5-meta-once',
      'contract-8-stream-run-interrupted',
      'contract-6-charged-zero',
      'contract-6-reservation-ends',
      'contract-6-usage-record-once',
      'contract-6-chat-states',
    );
    await using server = await KillableServer.start({ store, limits: NEVER_BY_THE_CLOCK });
    await server.metered();
    const body = { ...MINE, usageRequestId: 'u1', message: 'Do it' };
    const { reader, runId, second, kept: stored, isWhole } = await server.cutAfterStep(body);
    assert.equal(isWhole, false, 'the stream was cut');
    assert.ok(!reader.text.includes('event: end'));
    await second.closed;

    await server.startAgain({ limits: { maxAttempts: 1 } });
    const replay = await server.api.events(runId, null, 'mine');
    const frames = await replay.whole();
    const resumed = frames.find(({ event }) => event === 'resumed');
    assert.deepEqual(JSON.parse(resumed?.data ?? ''), { run_id: runId, attempt: 2, discard_after: stored });
    assert.ok((resumed?.id ?? 0) > 1_000_000_000);
    assert.deepEqual(
      frames.filter(({ id }) => id <= stored),
      reader.frames.filter(({ id }) => id <= stored),
      'what is not void stands as it was sent',
    );
    assert.deepEqual(
      frames.filter(({ id }) => id > stored).map(({ event }) => event),
      ['resumed', null, 'messages', 'end'],
    );
    assert.ok(!replay.text.includes('"Void"'), 'void events are never sent again');
    assert.equal(frames.filter(({ event }) => event === 'meta').length, 1);
    const error = JSON.parse(frames.at(-3)?.data ?? '');
    assert.deepEqual([error.code, error.run_id], ['run_interrupted', runId]);
    assert.match(error.error, /cannot continue: its server died once\./);
    const messages = messagesFrame(replay);
    assert.deepEqual([messages.status, messages.error.code], ['failed', 'run_interrupted']);

    // A reader that saw void events receives every event after the last stored one.
    const seen = reader.frames.at(-1)?.id ?? 0;
    assert.ok(seen > stored);
    const rest = await (await server.api.events(runId, seen, 'mine')).whole();
    assert.deepEqual(
      rest,
      frames.filter(({ id }) => id > stored),
    );
    const posted = await server.api.complete(body);
    await posted.whole();
    assert.deepEqual([posted.headers['x-run-replayed'], posted.headers['x-run-id']], ['true', runId]);
    assert.equal(withoutComments(posted.text), withoutComments(replay.text));

    const { body: status } = await server.api.get(`${BELOW}/chat_status?usageRequestId=u1`);
    assert.deepEqual(
      [status.status, status.activeRunId, status.run.status, status.run.attempt, status.run.message],
      ['idle', null, 'failed', 2, 'Kept. '],
    );
    assert.equal(status.run.error.code, 'run_interrupted');
    assert.equal(status.run.lastEventId, frames.at(-1)?.id);
    const [record, ...others] = (await server.api.get(`${BELOW}/usage`)).body.items;
    assert.deepEqual([record.status, record.charged, others], ['failed', { unit: 'tokens', amount: 0 }, []]);
    assert.ok(record.usage.total_tokens >= SCRIPTED_USAGE.inputTokens + SCRIPTED_USAGE.outputTokens);
    assert.deepEqual(await usedIn(server, 'tokens'), { used: 0, reserved: 0 });
    assert.deepEqual(await usedIn(server, 'runs'), { used: 0, reserved: 0 });

    const next = await server.hold({ ...MINE, usageRequestId: 'u2', message: 'Again' });
    assert.deepEqual(next.call.request.prompt, [...second.request.prompt, { kind: 'user', text: 'Again' }]);
    assert.deepEqual(
      second.request.prompt.map(({ kind }) => kind),
      ['user', 'assistant', 'tool_call', 'tool_output'],
    );
    await next.call.text('Done');
    await next.call.end();
    await next.reader.whole();
    assert.equal(next.reader.answer, 'Done');
    assert.deepEqual(await usedIn(server, 'runs'), { used: 1, reserved: 0 });
    assert.equal(server.controller.calls.length, 3);
  });

  test('after kill -9 a requested cancel ends the run, free without a model step', async (t) => {
    cites(
      t,
      'contract-5-resumed',
      'contract-5-cancelled',
      'contract-6-charged-cut-step',
      'contract-6-accepted-attempt',
      'contract-6-cancel-kept',
      'contract-6-reservation-ends',
    );
    // The first flush stores that the run is running, the second stores its text.
    await using server = await KillableServer.start({ store, killAt: 'flush.after-commit', killAfter: 2 });
    await server.metered();
    const { call, runId } = await server.hold({ ...MINE, usageRequestId: 'u1', message: 'm'.repeat(40) });
    const run = async () => (await server.api.get(`${BELOW}/runs/${runId}`)).body;
    while ((await run()).status !== 'running') await new Promise(setImmediate);
    const unanswered = server.api.post(`${BELOW}/runs/${runId}/cancel`, { mode: 'after_step' });
    const lost = assert.rejects(unanswered);
    while ((await run()).cancelRequested === null) await new Promise(setImmediate);
    await call.text('t'.repeat(13));
    assert.equal(await server.process.gone, 'SIGKILL');
    await lost;
    // As in a run that answers a question: an approved call began before any model was called.
    await askStore(
      server.dataDir,
      `insert into steps (run_id, step, attempt, kind, agent, status, first_event_id, last_event_id, record_json, started_at,
         completed_at) values ('${runId}', 1, 1, 'begin', 'Clerk', 'completed', 1, 1, '{"usage":null,"output":[]}', 0, 0)`,
    );
    await askStore(server.dataDir, 'update runs set step = 1');

    await server.startAgain();
    const replay = await server.api.events(runId, null, 'mine');
    const frames = await replay.whole();
    assert.deepEqual(
      frames.slice(-3).map(({ event }) => event),
      ['resumed', 'messages', 'end'],
    );
    const messages = messagesFrame(replay);
    assert.deepEqual([messages.status, messages.cancelled, messages.error], ['cancelled', true, null]);
    const { body: status } = await server.api.get(`${BELOW}/chat_status?chatId=c1`);
    assert.deepEqual(
      [status.status, status.run.status, status.run.message, status.run.error],
      ['idle', 'cancelled', 't'.repeat(13), null],
    );
    const { body: again } = await server.api.post(`${BELOW}/runs/${runId}/cancel`);
    assert.deepEqual([again.status, again.cancelled], ['cancelled', true]);
    const [record] = (await server.api.get(`${BELOW}/usage`)).body.items;
    assert.equal(record.usage.output_tokens, 4);
    assert.ok(record.usage.input_tokens >= 10, 'at least the message was read');
    // The attempt that ended the run called no model, and no model step was journalled before.
    assert.deepEqual(record.charged, { unit: 'tokens', amount: 0 });
    assert.deepEqual(await usedIn(server, 'tokens'), { used: 0, reserved: 0 });
    assert.deepEqual(await usedIn(server, 'runs'), { used: 0, reserved: 0 });
  });

  test('the chat status tells that nothing was reserved; the same id starts a run', async (t) => {
    cites(
      t,
      'spec-4.1-rule-4',
      'spec-7-rule-2-chat-status',
      'contract-4-one-transaction',
      'contract-6-unknown-usage-request-id',
      'contract-4-refused-no-chat',
    );
    await using server = await KillableServer.start({ store, killAt: 'admit.before-commit' });
    await server.metered();
    const body = { ...MINE, usageRequestId: 'u1' };
    await assert.rejects(server.api.complete(body));
    await server.startAgain();
    const { status, body: said } = await server.api.get(`${BELOW}/chat_status?usageRequestId=u1`);
    assert.deepEqual([status, said.code], [404, 'run_not_found']);
    for (const list of ['runs', 'chats', 'usage']) {
      assert.deepEqual((await server.api.get(`${BELOW}/${list}`)).body.items, [], list);
    }
    assert.deepEqual(await usedIn(server, 'tokens'), { used: 0, reserved: 0 });
    const { reader, call } = await server.hold(body);
    assert.equal(reader.headers['x-run-replayed'], undefined);
    await call.end();
    await reader.whole();
    assert.equal(server.controller.calls.length, 1);
  });

  test('the chat status tells that the run was reserved; it never starts twice', async (t) => {
    cites(t, 'spec-4.1-rule-4', 'spec-7-rule-2', 'spec-7-rule-2-chat-status', 'contract-4-one-transaction');
    await using server = await KillableServer.start({ store, killAt: 'admit.after-commit' });
    await server.metered();
    const body = { ...MINE, aliasChatId: 'alias', usageRequestId: 'u1' };
    await assert.rejects(server.api.complete(body));
    assert.deepEqual(await askStore(server.dataDir, 'select 1 from event_chunks'), []);
    await server.startAgain();
    const { body: status } = await server.api.get(`${BELOW}/chat_status?usageRequestId=u1`);
    assert.deepEqual([status.chatId, status.status, status.numMessages], ['c1', 'running', 1]);
    assert.match(status.run.status, /^(admitted|running)$/);
    assert.deepEqual([status.run.attempt, status.run.error], [2, null]);
    const runIds = async (list: string) =>
      (await server.api.get(`${BELOW}/${list}`)).body.items.map((item: { runId: string }) => item.runId);
    const { runId } = status.run;
    for (const list of ['runs', 'usage']) assert.deepEqual(await runIds(list), [runId]);
    const reader = await server.api.complete(body);
    const call = await server.controller.nextCall();
    assert.deepEqual([call.request.runId, call.request.attempt, call.request.step], [runId, 2, 1]);
    await call.end();
    const frames = await reader.whole();
    assert.deepEqual(await runIds('chats/c1/messages'), [runId, runId]);
    assert.deepEqual([reader.headers['x-run-replayed'], reader.headers['x-run-id']], ['true', runId]);
    assert.deepEqual(
      frames.map(({ event }) => event),
      ['meta', 'resumed', null, null, 'messages', 'end'],
    );
    // The node died before its first flush, so the takeover rebuilt `meta`.
    const names = { chatId: 'c1', aliasChatId: 'alias', usageRequestId: 'u1', consumerId: 'ann', agent: 'Clerk' };
    const { createdAt } = status.run;
    assert.deepEqual(JSON.parse(frames[0]?.data ?? ''), { run_id: runId, ...names, createdAt });
    assert.equal(JSON.parse(frames[1]?.data ?? '').discard_after, 1);
    assert.equal(messagesFrame(reader).status, 'completed');
    assert.equal(server.controller.calls.length, 1);
    assert.deepEqual(await usedIn(server, 'runs'), { used: 1, reserved: 0 });
  });
}
