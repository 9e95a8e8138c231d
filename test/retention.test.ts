import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import {
  type Frame,
  forgetStore,
  STORES,
  type StoreName,
  type StreamReader,
  storeEnvironment,
  temporaryFolder,
  withoutComments,
} from '@runwire/test-kit';
import { readConfig } from '../packages/server/src/config/read-config.ts';
import { StartRefused } from '../packages/server/src/domain/start-refused.ts';
import { cites } from '../requirements/cite.ts';
import { DAY_MS, endFirstPartition } from './support/old-partitions.ts';
import { refusal, ScriptedServer } from './support/scripted-server.ts';

const isDelta = ({ data }: Frame) => /"type":"response\.[a-z_]+\.delta"/.test(data);
const isRunItem = ({ data }: Frame) => data.includes('"run_item_stream_event"');
const isError = ({ event, data }: Frame) => event === null && data.startsWith('{"error"');
const isOutput = ({ data }: Frame) => data.includes('"name":"tool_output"');

function failureByCall({ data }: Frame): readonly [string, unknown] {
  const { raw_item, failed } = JSON.parse(data).data.item;
  return [raw_item.call_id, failed];
}

/** The events that the contract lists, selected from the whole run's frames. */
function whatStays(frames: readonly Frame[]): Frame[] {
  const deltas = new Map<string, { id: number; text: string; data: string }>();
  for (const { id, data } of frames.filter(isDelta)) {
    const { item_id: item, delta } = JSON.parse(data).data.data;
    deltas.set(item, { id, text: (deltas.get(item)?.text ?? '') + delta, data });
  }
  const joined = [...deltas.values()].map(({ id, text, data }): Frame => {
    const body = JSON.parse(data);
    body.data.data.delta = text;
    return { id, event: null, data: JSON.stringify(body) };
  });
  const others = frames.filter((frame) => frame.event !== null || isRunItem(frame) || isError(frame));
  return [...others, ...joined].sort((one, other) => one.id - other.id);
}

async function readAll(stream: Promise<StreamReader>): Promise<StreamReader> {
  const reader = await stream;
  assert.equal(await reader.over, true, 'it came whole');
  return reader;
}

test('accepts a whole number of days', (t) => {
  cites(t, 'contract-1-log-days');
  assert.equal(readConfig({}).config.limits.logMs, 7 * DAY_MS);
  for (const days of ['0', '1', '30', '36500']) {
    assert.equal(readConfig({ RUNWIRE_LOG_DAYS: days }).config.limits.logMs, Number(days) * DAY_MS);
  }
  for (const days of ['-1', '1.5', 'a week', '1e3', '36501', ' 7']) {
    assert.throws(
      () => readConfig({ RUNWIRE_LOG_DAYS: days }),
      (error) =>
        error instanceof StartRefused && /^RUNWIRE_LOG_DAYS is .*; set it to a whole number/.test(error.message),
    );
  }
});

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  /** A server that sweeps when the test calls for it, and then compacts every run that has ended. */
  const start = async () => {
    const options = { store, limits: { logMs: 0 } };
    if (store === 'sqlite') return ScriptedServer.start(options);
    const dataDir = temporaryFolder();
    after(() => forgetStore(dataDir));
    const { DATABASE_URL = '' } = await storeEnvironment(dataDir, store);
    // The events of today are then in a partition that is dropped later.
    await endFirstPartition(DATABASE_URL, 0);
    return ScriptedServer.start({ ...options, dataDir });
  };

  test('keeps the events that the contract names of a run that ended long ago', async (t) => {
    cites(t, 'contract-4-limit-stored-events');
    await using rig = await start();
    const integration = await rig.integration({ agency: 'test' });
    const body = { apiIntegrationId: integration, usageRequestId: 'r1', message: 'Hi' };
    const { reader, call, runId } = await rig.hold(body);
    await call.reasoning('Let me ');
    await call.reasoning('see.');
    await call.text('One ');
    await call.text('moment.');
    await call.toolCall('call_1', 'echo', '{"a":1}');
    await call.toolCall('call_2', 'absent', '{}');
    await call.end();
    const next = await rig.controller.nextCall();
    for (const text of ['Here ', 'it ', 'is: ', '\u{1F600}', '\0']) await next.text(text);
    await next.end();
    await reader.whole();
    assert.deepEqual(
      Object.fromEntries(reader.frames.filter(isOutput).map(failureByCall)),
      { call_1: undefined, call_2: true },
      'only the failed call is marked',
    );
    assert.deepEqual((await readAll(rig.api.events(runId, null, integration))).frames, reader.frames);

    assert.equal(await rig.server.server.probes.sweepEvents(), 1);
    const compacted = await readAll(rig.api.events(runId, null, integration));
    assert.deepEqual(compacted.frames, whatStays(reader.frames));
    assert.ok(compacted.frames.length < reader.frames.length);
    assert.equal(compacted.frames.filter(isDelta).length, 5, 'reasoning, two messages, two tool calls');
    assert.equal(compacted.answer, reader.answer);
    assert.equal(await rig.server.server.probes.sweepEvents(), 0, 'once is enough');
    assert.deepEqual((await readAll(rig.api.events(runId, null, integration))).frames, compacted.frames);

    const calls = rig.controller.calls.length;
    const again = await readAll(rig.api.complete(body));
    assert.deepEqual([again.status, again.headers['x-run-replayed']], [200, 'true']);
    assert.equal(withoutComments(again.text), withoutComments(compacted.text));
    assert.equal(rig.controller.calls.length, calls);
    const { body: run } = await rig.api.get(`/v2/integrations/${integration}/runs/${runId}`);
    assert.deepEqual(
      [run.status, run.message, run.lastEventId],
      ['completed', reader.answer, reader.frames.at(-1)?.id],
    );
  });

  test('keeps the error frame of a failed run', async (t) => {
    cites(t, 'contract-4-limit-stored-events');
    await using rig = await start();
    const integration = await rig.integration();
    const { reader, call, runId } = await rig.hold({ apiIntegrationId: integration });
    await call.text('One ');
    await call.text('two ');
    await call.fail('model_error', 'It broke.');
    await reader.whole();
    assert.equal(await rig.server.server.probes.sweepEvents(), 1);
    const compacted = await readAll(rig.api.events(runId, null, integration));
    assert.deepEqual(compacted.frames, whatStays(reader.frames));
    assert.deepEqual(
      compacted.frames.map((frame) => frame.event ?? (isError(frame) ? 'error' : 'delta')),
      ['meta', 'delta', 'error', 'messages', 'end'],
    );
  });

  test('refuses a cursor inside a compacted run and answers 204 at its end', async (t) => {
    cites(t, 'contract-3-events-compacted', 'contract-8-410-cursor-too-old', 'contract-3-events-at-end');
    await using rig = await start();
    const integration = await rig.integration();
    const body = { apiIntegrationId: integration, usageRequestId: 'r1', message: 'Hi' };
    const { reader, runId } = await rig.answer(body, 'Hello');
    assert.equal((await readAll(rig.api.events(runId, 1, integration))).frames[0]?.id, 2, 'as long as it is whole');
    assert.equal(await rig.server.server.probes.sweepEvents(), 1);
    const last = reader.frames.at(-1)?.id ?? 0;
    for (let cursor = 1; cursor < last; cursor += 1) {
      const { status, body: said } = await refusal(await rig.api.events(runId, cursor, integration));
      assert.deepEqual([status, said.code], [410, 'cursor_too_old'], String(cursor));
    }
    for (const cursor of [last, last + 1]) {
      const again = await rig.api.events(runId, cursor, integration);
      await again.over;
      assert.deepEqual([again.status, again.text], [204, '']);
    }
    const whole = await readAll(rig.api.events(runId, 0, integration));
    for (const cursor of [1, last - 1, last]) {
      const again = await readAll(rig.api.complete(body, { 'last-event-id': String(cursor) }));
      assert.deepEqual(again.frames, whole.frames);
    }
  });

  test('compacts no live run, no recent run and no run of a deleted chat', async (t) => {
    cites(t, 'contract-4-limit-stored-events', 'contract-1-log-days');
    const dataDir = temporaryFolder();
    t.after(() => rmSync(dataDir, { recursive: true, force: true }));
    let runId = '';
    let whole: Frame[] = [];
    {
      await using rig = await ScriptedServer.start({ store, dataDir, env: { RUNWIRE_LOG_DAYS: '1' } });
      const ended = await rig.answer({ apiIntegrationId: 'demo', usageRequestId: 'r1' }, 'Hello');
      ({ runId } = ended);
      whole = ended.reader.frames;
      assert.equal(await rig.server.server.probes.sweepEvents(), 0, 'a day has not passed');
      assert.deepEqual((await readAll(rig.api.events(runId, null, 'demo'))).frames, whole);
    }
    await using rig = await ScriptedServer.start({ store, dataDir, env: { RUNWIRE_LOG_DAYS: '0' } });
    const { probes } = rig.server.server;
    // The start sweeps too. Either sweep may compact the run, but after this one it is compacted.
    await probes.sweepEvents();
    assert.deepEqual((await readAll(rig.api.events(runId, null, 'demo'))).frames, whatStays(whole));

    const { reader, call } = await rig.hold({ apiIntegrationId: 'demo' });
    await call.text('still ');
    await reader.untilText('still ');
    assert.equal(await probes.sweepEvents(), 0, 'it runs');
    await call.text('here');
    await call.end();
    assert.ok((await reader.whole()).some(({ data }) => data.includes('response.completed')));

    const gone = await rig.answer({ apiIntegrationId: 'demo', chatId: 'gone' }, 'Bye');
    assert.equal((await rig.api.call('DELETE', '/v2/integrations/demo/chats/gone')).status, 204);
    await probes.sweepEvents();
    assert.equal((await refusal(await rig.api.events(gone.runId, null, 'demo'))).body.code, 'chat_not_found');
  });

  test('sweeps more runs than go into one batch', async () => {
    await using rig = await start();
    const integration = await rig.integration();
    rig.controller.answerAll('One ', 'two.');
    const readers = await Promise.all(
      Array.from({ length: 40 }, () => readAll(rig.api.complete({ apiIntegrationId: integration }))),
    );
    assert.equal(await rig.server.server.probes.sweepEvents(), 40);
    for (const reader of readers) {
      const compacted = await readAll(rig.api.events(String(reader.headers['x-run-id']), null, integration));
      assert.deepEqual(compacted.frames, whatStays(reader.frames));
    }
  });

  test('cuts a reader that was in the middle of a run when its events were compacted', async () => {
    await using rig = await start();
    const integration = await rig.integration();
    const { reader: quick, call, runId } = await rig.hold({ apiIntegrationId: integration });
    const slow = await rig.api.events(runId, null, integration);
    await slow.untilText('event: meta');
    slow.pause();
    const piece = 'x'.repeat(256 * 1024);
    for (let said = 1; rig.server.server.probes.fullStreams() === 0; said += 1) {
      assert.ok(said < 400, 'the server keeps writing to a reader that does not read');
      await call.text(`${piece}<${said}>`);
      await quick.until(({ text }) => text.slice(-200).includes(`<${said}>`));
    }
    await call.text('the last word');
    await call.end();
    await quick.whole();
    assert.equal(await rig.server.server.probes.sweepEvents(), 1);
    slow.resume();
    assert.equal(await slow.over, false, 'it does not come whole');
    assert.equal(slow.text.includes('event: end'), false);
    assert.deepEqual(slow.frames, quick.frames.slice(0, slow.frames.length), 'and holds no text twice');
    const { status } = await refusal(await rig.api.events(runId, slow.frames.at(-1)?.id ?? 0, integration));
    assert.equal(status, 410);
    const again = await readAll(rig.api.events(runId, null, integration));
    assert.ok(again.answer === quick.answer);
  });
}
