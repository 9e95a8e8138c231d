import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ModelCall, SCRIPTED_USAGE, STORES, type StoreName, ToolController, testAgency } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { KillableServer } from './support/killable-server.ts';
import { messagesFrame } from './support/scripted-server.ts';
import { isSummaryCall } from './support/summarizing-model.ts';

const MINE = { apiIntegrationId: 'mine', consumerId: 'ann', chatId: 'c1' };
const BELOW = '/v2/integrations/mine';
const NEVER_BY_THE_CLOCK = { flushMs: 600_000 };

const TOKENS = SCRIPTED_USAGE.inputTokens + SCRIPTED_USAGE.outputTokens;

const toRecord = async (server: KillableServer) => (await server.api.get(`${BELOW}/usage`)).body.items[0];
const listSteps = async (server: KillableServer, runId: string) =>
  (await server.api.get(`${BELOW}/runs/${runId}/steps`)).body.items.toReversed();

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('a model call that died is repeated, and its partial answer is charged', async (t) => {
    cites(t, 'contract-6-charged-cut-step', 'contract-5-resumed');
    // The first flush stores that the run is running, the second stores its text.
    await using server = await KillableServer.start({ store, killAt: 'flush.after-commit', killAfter: 2 });
    await server.metered();
    const { call, runId } = await server.hold({ ...MINE, usageRequestId: 'u1', message: 'm'.repeat(40) });
    while ((await server.api.get(`${BELOW}/runs/${runId}`)).body.status !== 'running') await sleep(5);
    await call.text('t'.repeat(13));
    assert.equal(await server.process.gone, 'SIGKILL');

    await server.startAgain();
    const again = await server.controller.nextCall();
    assert.deepEqual(again.request.prompt, call.request.prompt);
    const underWay = await toRecord(server);
    assert.deepEqual([underWay.usage.request_count, underWay.usage.output_tokens], [1, 4]);
    assert.ok(underWay.usage.input_tokens >= 10, 'at least the message was read');
    const replay = await server.api.events(runId, null, 'mine');
    await again.text('Well');
    await again.end();
    await replay.whole();
    assert.equal(replay.answer, 'Well');
    const record = await toRecord(server);
    const total = underWay.usage.total_tokens + TOKENS;
    assert.deepEqual([record.usage.request_count, record.usage.total_tokens], [2, total]);
    assert.deepEqual(record.charged, { unit: 'tokens', amount: total });
    const models = record.byModel.map((one: { output_tokens: number }) => one.output_tokens);
    assert.deepEqual(models, [4 + SCRIPTED_USAGE.outputTokens]);
    assert.deepEqual(messagesFrame(replay).usage, record.usage);
  });

  test('a crash during the first step leaves only `meta` of the first chunk', async (t) => {
    cites(t, 'contract-5-void', 'contract-5-meta-once');
    // One flush stores `meta` together with the text.
    const limits = { flushMs: 2000 };
    await using server = await KillableServer.start({ store, limits, killAt: 'flush.after-commit' });
    await server.metered();
    const { call, runId } = await server.hold({ ...MINE, usageRequestId: 'u1', message: 'Do it' });
    await call.text('Void');
    assert.equal(await server.process.gone, 'SIGKILL');

    await server.startAgain();
    const again = await server.controller.nextCall();
    const replay = await server.api.events(runId, null, 'mine');
    await again.text('Well');
    await again.end();
    const frames = await replay.whole();
    assert.ok(!replay.text.includes('"Void"'), 'void events are never sent again');
    assert.deepEqual(
      frames.slice(0, 2).map(({ event, id }) => [event, id]),
      [
        ['meta', 1],
        ['resumed', 1_000_000_001],
      ],
    );
    assert.equal(replay.answer, 'Well');
  });

  test('charges earlier attempts only for journalled steps', async (t) => {
    cites(t, 'contract-6-accepted-attempt');
    await using server = await KillableServer.start({ store, limits: NEVER_BY_THE_CLOCK });
    await server.metered();
    const said = await server.hold({ ...MINE, chatId: 'said', usageRequestId: 'said' });
    await said.call.text('Half');
    await said.reader.untilText('"Half"');
    const stepped = await server.hold({ ...MINE, chatId: 'stepped', usageRequestId: 'stepped' });
    await stepped.call.toolCall('call_1', 'echo', '{"n":1}');
    await stepped.call.end();
    await server.controller.nextCall();
    await server.process.kill();
    await server.startAgain();
    for (const _ of [said, stepped]) {
      const call = await server.controller.nextCall();
      assert.equal(call.request.attempt, 2);
      await call.fail('model_error', 'The provider is away.');
    }
    for (const { runId } of [said, stepped]) await (await server.api.events(runId, null, 'mine')).whole();
    const { items } = (await server.api.get(`${BELOW}/usage`)).body;
    const charged = (id: string) =>
      items.find(({ usageRequestId }: { usageRequestId: string }) => usageRequestId === id).charged.amount;
    assert.deepEqual([charged('said'), charged('stepped')], [0, TOKENS]);
    const used = async () => (await server.api.get(`${BELOW}/members/ann`)).body.allowance.used;
    assert.equal(await used(), TOKENS);
    await server.api.patch(BELOW, { allowances: { unit: 'runs', limit: 9, period: 'lifetime' } });
    assert.equal(await used(), 1);
  });

  test('an open tool call is repeated only if the tool allows it', async () => {
    await using server = await KillableServer.start({ store });
    await using gate = await ToolController.start();
    await server.metered('gate');
    const { call, runId } = await server.hold({ ...MINE, usageRequestId: 'u1', message: 'Go' });
    const input = JSON.stringify({ port: gate.port });
    await call.toolCall('a', 'gate', input);
    await call.toolCall('b', 'gate_again', input);
    await call.toolCall('c', 'gate', input);
    await call.toolCall('d', 'nowhere', input);
    await call.end();
    for (const name of ['a', 'b', 'c']) await gate.holds(name);
    gate.open('c', 'third');
    while ((await listSteps(server, runId)).length < 3) await sleep(5);
    await server.process.kill();

    await server.startAgain();
    await gate.holds('b');
    gate.open('b', 'second');
    const next = await server.controller.nextCall();
    const outputs = next.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item] : []));
    assert.deepEqual(
      outputs.map(({ callId }) => callId),
      ['a', 'b', 'c', 'd'],
    );
    assert.match(outputs[0]?.output ?? '', /outcome is unknown: it may or may not have taken effect/);
    assert.deepEqual(
      outputs.slice(1).map(({ output }) => output),
      ['second', 'third', 'There is no tool `nowhere`.'],
    );
    // The finished call and the call that may not be repeated were made once; the other call twice, with one key.
    const keys = (name: string) => gate.calls.filter(({ callId }) => callId === name).map((one) => one.idempotencyKey);
    assert.deepEqual([keys('a').length, keys('c').length], [1, 1]);
    assert.deepEqual(keys('b'), [keys('b')[0], keys('b')[0]]);
    const replay = await server.api.events(runId, null, 'mine');
    await next.text('Done');
    await next.end();
    await replay.whole();
    assert.equal(messagesFrame(replay).status, 'completed');
    assert.deepEqual(
      (await listSteps(server, runId)).map(({ step, callId, status, attempt }: Record<string, unknown>) => [
        step,
        callId,
        status,
        ['a', 'b'].includes(String(callId)) ? attempt : null,
      ]),
      [
        [1, null, 'completed', null],
        [4, 'c', 'completed', null],
        [5, 'd', 'failed', null],
        // A number is never assigned again: 2 and 3 were the calls that the crash cut off.
        [6, 'a', 'failed', 2],
        [7, 'b', 'completed', 2],
        [8, null, 'completed', null],
      ],
    );
    const said = replay.frames.filter(({ data }) => data.includes('"name":"tool_output"'));
    assert.equal(said.length, 4, 'every call has one output in the stream');
  });

  test('the last allowed crash ends a run; each `resumed` stays in the stream', async (t) => {
    cites(t, 'contract-8-stream-run-interrupted', 'contract-5-resumed-replayed');
    await using server = await KillableServer.start({ store });
    await server.metered();
    const body = { ...MINE, usageRequestId: 'u1', message: 'Do it' };
    const { runId } = await server.hold(body);
    await server.killAndRestart();
    const second = await server.controller.nextCall();
    const reader = await server.api.events(runId, null, 'mine');
    await second.text('Half');
    await reader.untilText('"Half"');
    await server.killAndRestart();
    const third = await server.controller.nextCall();
    assert.deepEqual([second.request.attempt, third.request.attempt], [2, 3]);
    assert.deepEqual(third.request.prompt, second.request.prompt);
    await server.process.kill();
    await server.startAgain();
    const { body: status } = await server.api.get(`${BELOW}/chat_status?usageRequestId=u1`);
    assert.deepEqual(
      [status.status, status.run.status, status.run.attempt, status.run.error.code],
      ['idle', 'failed', 4, 'run_interrupted'],
    );
    assert.match(status.run.error.message, /its server died 3 times/);
    const replay = await server.api.complete(body);
    const frames = await replay.whole();
    assert.deepEqual(
      frames.flatMap(({ event, id, data }) => (event === 'resumed' ? [[id, JSON.parse(data).discard_after]] : [])),
      [
        [1_000_000_001, 1],
        [2_000_000_001, 1_000_000_001],
        [3_000_000_001, frames.findLast(({ id }) => id < 3_000_000_001)?.id],
      ],
    );
    // A reader that saw void frames of the second attempt is first informed that they are void.
    const rest = await (await server.api.events(runId, reader.frames.at(-1)?.id ?? 0, 'mine')).whole();
    assert.deepEqual([rest[0]?.event, rest[0]?.id], ['resumed', 2_000_000_001]);
    const record = await toRecord(server);
    assert.deepEqual(record.charged, { unit: 'tokens', amount: 0 });
  });

  test('the time limit of a run counts from its first start', async (t) => {
    cites(t, 'contract-8-stream-run-timeout');
    await using server = await KillableServer.start({ store });
    await server.api.post('/v2/integrations', { apiIntegrationId: 'mine', agency: 'test', maxRunSeconds: 2 });
    const { runId } = await server.hold({ apiIntegrationId: 'mine' });
    await server.process.kill();
    await sleep(2100);
    await server.startAgain();
    const replay = await server.api.events(runId, null, 'mine');
    await replay.whole();
    assert.equal(messagesFrame(replay).error.code, 'run_timeout');
    assert.equal(server.controller.calls.length, 1, 'the model was not asked again');
  });

  test('a clock that was ahead at the first start gives a run no more time', async () => {
    await using server = await KillableServer.start({ store });
    await server.api.post('/v2/integrations', { apiIntegrationId: 'mine', agency: 'test', maxRunSeconds: 10 });
    const { runId, call, reader } = await server.hold({ apiIntegrationId: 'mine' });
    await call.text('Begun');
    await reader.untilText('Begun');
    await server.process.kill();
    await askStore(server.dataDir, 'update runs set started_at = created_at + 3600000');
    await server.startAgain();
    const replay = await server.api.events(runId, null, 'mine');
    await replay.whole();
    assert.equal(messagesFrame(replay).error.code, 'run_timeout');
  });

  test('a run without its agent or with a foreign journal ends as interrupted', async (t) => {
    cites(t, 'contract-8-stream-run-interrupted');
    await using server = await KillableServer.start({ store });
    for (const id of ['gone', 'foreign']) {
      await server.api.post('/v2/integrations', { apiIntegrationId: id, agency: id === 'gone' ? 'gate' : 'test' });
    }
    const gone = await server.hold({ apiIntegrationId: 'gone' });
    const foreign = await server.hold({ apiIntegrationId: 'foreign' });
    await server.process.kill();
    await askStore(server.dataDir, `update runs set journal_format = 99 where run_id = '${foreign.runId}'`);
    await server.startAgain({ agencies: { test: testAgency } });
    const getEnd = async (id: string, runId: string) =>
      (await server.api.get(`/v2/integrations/${id}/runs/${runId}`)).body;
    const ends = [await getEnd('gone', gone.runId), await getEnd('foreign', foreign.runId)];
    assert.deepEqual(
      ends.map(({ status, error }) => [status, error.code]),
      [
        ['failed', 'run_interrupted'],
        ['failed', 'run_interrupted'],
      ],
    );
    assert.match(ends[0].error.message, /the agent `Porter` no longer exists/);
    assert.match(ends[1].error.message, /another version of the server started it/);
    assert.equal(server.controller.calls.length, 2);
  });

  test('dropped turns are reported once, before or after the crash', async () => {
    const env = { RUNWIRE_MODEL_WINDOW: '1000' };
    await using server = await KillableServer.start({ store, env });
    await server.metered();
    const say = (turn: number) => ({ ...MINE, usageRequestId: `u${turn}`, message: `${turn}`.padEnd(1600, 'q') });
    /** No summary is made, so that turns are left out. */
    const withoutSummary = async (call: ModelCall) => {
      if (!isSummaryCall(call)) return call;
      await call.fail('model_error', 'No.');
      return server.controller.nextCall();
    };
    for (const turn of [1, 2]) {
      const { call: asked, reader } = await server.hold(say(turn));
      const call = await withoutSummary(asked);
      await call.text('a'.repeat(400));
      await call.end();
      await reader.whole();
    }
    const { call: asked, reader } = await server.hold(say(3));
    const first = await withoutSummary(asked);
    await reader.untilText('history_left_out');
    await server.killAndRestart({ env });
    const runId = String(reader.headers['x-run-id']);
    const second = await withoutSummary(await server.controller.nextCall());
    assert.deepEqual(second.request.prompt, first.request.prompt, 'behind no step');
    await second.toolCall('call_1', 'echo', '{}');
    await second.end();
    const third = await server.controller.nextCall();
    await server.process.kill();
    await server.startAgain({ env });
    const fourth = await server.controller.nextCall();
    assert.deepEqual(fourth.request.prompt, third.request.prompt, 'behind a finished step');
    const replay = await server.api.events(runId, null, 'mine');
    await fourth.end();
    const frames = await replay.whole();
    assert.equal(frames.filter(({ data }) => data.includes('history_left_out')).length, 1);
    assert.equal(messagesFrame(replay).status, 'completed');
  });
}
