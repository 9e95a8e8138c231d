import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SCRIPTED_USAGE, STORES, type StoreName, withoutComments } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { toRows } from './support/columns.ts';
import { KillableServer } from './support/killable-server.ts';
import { messagesFrame } from './support/scripted-server.ts';

const MINE = { apiIntegrationId: 'mine', consumerId: 'ann', chatId: 'c1' };
const BELOW = '/v2/integrations/mine';
const NEVER_BY_THE_CLOCK = { flushMs: 600_000 };

const TOKENS = SCRIPTED_USAGE.inputTokens + SCRIPTED_USAGE.outputTokens;

const toRecord = async (server: KillableServer) => (await server.api.get(`${BELOW}/usage`)).body.items[0];
const listSteps = async (server: KillableServer, runId: string) =>
  (await server.api.get(`${BELOW}/runs/${runId}/steps`)).body.items.toReversed();

const untilStored = async (server: KillableServer, runId: string, callId: string) => {
  while ((await listSteps(server, runId)).every((step: { callId: string | null }) => step.callId !== callId));
};

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('items of a delegated agent that was cut are void, and only that agent is asked again', async (t) => {
    cites(t, 'contract-5-void-items', 'contract-26-only-shown');
    await using server = await KillableServer.start({ store, limits: NEVER_BY_THE_CLOCK });
    await server.metered('team');
    const asks = (to: string) => JSON.stringify({ recipient_agent: to, message: 'Find it.' });
    const { reader, call, runId } = await server.hold({ ...MINE, usageRequestId: 'u1', message: 'Do it' });
    await call.toolCall('call_1', 'transfer_to_Lead', '{}');
    await call.end();
    const lead = await server.controller.nextCall();
    await lead.toolCall('call_2', 'send_message', asks('Research'));
    await lead.toolCall('call_3', 'send_message', asks('Facts'));
    await lead.end();
    const children = [await server.controller.nextCall(), await server.controller.nextCall()];
    const of = (name: string) => children.find(({ request }) => request.instructions === `You are ${name}.`);
    await of('Research')?.text('Void');
    await reader.untilText('"Void"');
    await of('Facts')?.text('In May.');
    await of('Facts')?.end();
    await reader.untilText('"function_call_output","call_id":"call_3"');
    await untilStored(server, runId, 'call_3');
    await server.process.kill();
    await reader.over;
    // The takeover would fail if it read calls that gave no result.
    await askStore(
      server.dataDir,
      `insert into unfinished_steps select * from (select run_id, step, attempt, kind, 'call_2' as loop, index_in_loop, agent,
        caller_agent, model, tool, call_id, 'failed' as status, first_event_id, last_event_id, '!' as record_json, started_at,
        completed_at from steps where run_id = '${runId}' and kind = 'model') s`,
    );

    await server.startAgain();
    const again = await server.controller.nextCall();
    assert.deepEqual(again.request.prompt, of('Research')?.request.prompt);
    await again.text('It is so.');
    await again.end();
    const last = await server.controller.nextCall();
    const outputs = last.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
    assert.deepEqual(outputs.slice(1), ['It is so.', 'In May.']);
    await last.text('Both agree.');
    await last.end();
    const replay = await server.api.events(runId, 0, 'mine');
    const frames = await replay.whole();
    const toItem = ({ data }: { data: string }) => /"item_id":"(msg_\w+)"/.exec(data)?.[1];
    const voided = frames.filter(({ data }) => data.includes('"delta":"Void"')).map(toItem);
    assert.equal(voided.length, 1);
    assert.deepEqual(JSON.parse(frames.find(({ event }) => event === 'resumed')?.data ?? '').void_items, voided);
    assert.equal(JSON.stringify(messagesFrame(replay).new_messages).includes('Void'), false);
    assert.equal(messagesFrame(replay).status, 'completed');
  });

  test('a run resumes from its journal after kill -9 without repeating steps', async (t) => {
    cites(
      t,
      'contract-5-resumed',
      'contract-5-void',
      'contract-5-resumed-replayed',
      'contract-5-ids',
      'contract-5-meta-once',
      'contract-6-usage-record-once',
      'contract-6-reservation-ends',
      'contract-23-first-token-resumed',
    );
    await using server = await KillableServer.start({ store, limits: NEVER_BY_THE_CLOCK });
    await server.metered();
    const body = { ...MINE, usageRequestId: 'u1', message: 'Do it' };
    const { reader, runId, second, kept, isWhole } = await server.cutAfterStep(body);
    assert.equal(isWhole, false, 'the stream was cut');

    await server.startAgain();
    const third = await server.controller.nextCall();
    assert.deepEqual([third.request.runId, third.request.attempt, third.request.step], [runId, 2, 3]);
    assert.deepEqual(third.request.prompt, second.request.prompt, 'the model is shown the very same');
    const seen = reader.frames.at(-1)?.id ?? 0;
    assert.ok(seen > kept);
    const rest = await server.api.events(runId, seen, 'mine');
    const replay = await server.api.complete(body);
    assert.deepEqual([replay.headers['x-run-replayed'], replay.headers['x-run-id']], ['true', runId]);
    await rest.untilText('event: resumed');
    const { body: status } = await server.api.get(`${BELOW}/chat_status?usageRequestId=u1`);
    assert.deepEqual([status.status, status.run.status, status.run.attempt], ['running', 'running', 2]);
    await third.text('Done');
    await Promise.all([rest.untilText('"Done"'), replay.untilText('"Done"')]);
    await third.end();

    const frames = await replay.whole();
    await rest.whole();
    const resumed = frames.find(({ event }) => event === 'resumed');
    assert.deepEqual(JSON.parse(resumed?.data ?? ''), { run_id: runId, attempt: 2, discard_after: kept });
    assert.equal(resumed?.id, 1_000_000_001);
    assert.deepEqual(
      frames.filter(({ id }) => id <= kept),
      reader.frames.filter(({ id }) => id <= kept),
      'what is not void stands as it was sent',
    );
    assert.deepEqual(
      rest.frames,
      frames.filter(({ id }) => id > kept),
    );
    assert.ok(!replay.text.includes('"Void"'), 'void events are never sent again');
    assert.deepEqual([replay.answer, messagesFrame(replay).status], ['Kept. Done', 'completed']);
    const stored = await server.api.events(runId, null, 'mine');
    await stored.whole();
    assert.equal(withoutComments(stored.text), withoutComments(replay.text), 'live and stored are one');
    assert.deepEqual(
      messagesFrame(replay).new_messages.map((item: { type: string; role?: string }) => item.role ?? item.type),
      ['user', 'assistant', 'function_call', 'function_call_output', 'assistant'],
    );

    assert.deepEqual(toRows(await listSteps(server, runId), 'step', 'attempt', 'kind'), [
      [1, 1, 'model'],
      [2, 1, 'tool'],
      [3, 2, 'model'],
    ]);
    const record = await toRecord(server);
    const [firstStep] = await listSteps(server, runId);
    const { createdAt } = (await server.api.get(`${BELOW}/runs/${runId}`)).body;
    const firstOutput = Date.parse(firstStep.startedAt) + firstStep.firstTokenMs;
    assert.equal(
      record.firstTokenMs,
      firstOutput - Date.parse(createdAt),
      'of the step that an earlier attempt finished',
    );
    // Nothing of the interrupted call had been stored.
    assert.deepEqual([record.usage.request_count, record.charged.amount], [2, 2 * TOKENS]);
    const { allowance } = (await server.api.get(`${BELOW}/members/ann`)).body;
    assert.deepEqual([allowance.used, allowance.reserved], [2 * TOKENS, 0]);
    assert.equal(server.controller.calls.length, 3);

    const next = await server.hold({ ...MINE, usageRequestId: 'u2', message: 'Again' });
    assert.deepEqual(next.call.request.prompt, [
      ...third.request.prompt,
      { kind: 'assistant', text: 'Done' },
      { kind: 'user', text: 'Again' },
    ]);
    await next.finish();
  });
}
