import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Frame, STORES, type StoreName, withoutComments } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { pickColumn } from './support/columns.ts';
import { ISO_TIME, ScriptedServer, shownUsage } from './support/scripted-server.ts';

const raw = (frame: Frame) => JSON.parse(frame.data).data;
const unnamed = (frames: readonly Frame[]) => frames.filter((frame) => frame.event === null).map(raw);
const rawTypes = (frames: readonly Frame[]) =>
  unnamed(frames).flatMap((data) => (data?.type === 'raw_response_event' ? [data.data.type] : []));
const itemNames = (frames: readonly Frame[]) =>
  unnamed(frames).flatMap((data) => (data?.type === 'run_item_stream_event' ? [data.name] : []));

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('streams meta, raw events, messages and end, with growing ids', async (t) => {
    cites(
      t,
      'contract-5-framing',
      'contract-5-ids',
      'contract-5-meta',
      'contract-5-delta',
      'contract-5-messages',
      'contract-5-end',
      'contract-5-raw-events',
      'contract-5-raw-completed',
      'contract-5-run-item',
      'contract-5-numbers',
      'contract-5-agent',
      'contract-5-answer',
      'contract-5-meta-once',
      'contract-9-new-messages-user',
      'contract-9-new-messages-assistant',
      'contract-9-usage',
      'contract-3-frame-names',
      'spec-4.1-event-stream',
      'spec-6-event-stream',
      'spec-1-run-agent',
    );
    await using rig = await ScriptedServer.start({ store });
    const { reader, call } = await rig.hold({ chatId: 'c1', usageRequestId: 'u1', message: 'Hi' });
    await call.reasoning('Let me think');
    await call.text('Hel');
    await call.text('lo "\n\u2028\0');
    await call.end();
    const frames = await reader.whole();

    assert.equal(reader.status, 200);
    assert.equal(frames[0]?.event, 'meta');
    assert.equal(frames[0]?.id, 1);
    const meta = JSON.parse(frames[0]?.data ?? '');
    assert.deepEqual(
      { ...meta, createdAt: null },
      {
        run_id: reader.headers['x-run-id'],
        chatId: 'c1',
        aliasChatId: null,
        usageRequestId: 'u1',
        consumerId: null,
        agent: 'Concierge',
        createdAt: null,
      },
    );
    assert.match(meta.createdAt, ISO_TIME);
    for (const [index, frame] of frames.entries()) assert.ok(index === 0 || frame.id > (frames[index - 1]?.id ?? 0));
    assert.deepEqual(rawTypes(frames), [
      'response.created',
      'response.output_item.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const delta = unnamed(frames).find((data) => data?.data?.delta === 'Hel');
    assert.equal(delta.agent, 'Concierge');
    assert.equal(delta.callerAgent, null);
    assert.deepEqual(Object.keys(delta.data), [
      'type',
      'item_id',
      'output_index',
      'content_index',
      'delta',
      'sequence_number',
    ]);
    assert.equal(delta.data.output_index, 1);
    assert.equal(reader.answer, 'Hello "\n\u2028\0');
    assert.deepEqual(itemNames(frames), ['reasoning_item_created', 'message_output_created']);
    assert.deepEqual(frames.filter((frame) => frame.event === 'meta').length, 1);
    assert.deepEqual(frames.filter((frame) => frame.event === 'messages').length, 1);
    const messages = JSON.parse(frames.at(-2)?.data ?? '');
    assert.equal(frames.at(-2)?.event, 'messages');
    assert.equal(messages.status, 'completed');
    assert.equal(messages.error, null);
    assert.deepEqual(messages.files, []);
    assert.deepEqual(messages.usage, shownUsage());
    const [user, , assistant] = messages.new_messages;
    const speaker = { type: 'message', agent: 'Concierge', callerAgent: null, timestamp: 0 };
    assert.deepEqual({ ...user, timestamp: 0 }, { ...speaker, role: 'user', content: 'Hi' });
    assert.ok(user.timestamp > 1.7e15 && assistant.timestamp > user.timestamp, 'timestamps are microseconds and grow');
    assert.deepEqual(
      { ...assistant, timestamp: 0, id: '' },
      {
        ...speaker,
        id: '',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Hello "\n\u2028\0', annotations: [] }],
      },
    );
    assert.deepEqual(frames.at(-1), { id: frames.at(-1)?.id, event: 'end', data: '[DONE]' });
    assert.equal(await reader.over, true);
  });

  test('sends the headers and a first comment before the model answers', async (t) => {
    cites(t, 'contract-5-flushed', 'contract-5-headers', 'contract-4-header-true');
    await using rig = await ScriptedServer.start({ store });
    const { reader, call } = await rig.hold({ chatId: 'a b/é' });
    await reader.until(({ text }) => text.startsWith(':'));
    assert.equal(reader.headers['content-type'], 'text/event-stream; charset=utf-8');
    assert.equal(reader.headers['cache-control'], 'no-cache, no-transform');
    assert.equal(reader.headers['x-accel-buffering'], 'no');
    assert.equal(reader.headers['content-encoding'], undefined);
    assert.equal(reader.headers['x-agent-run-admitted'], 'true');
    assert.equal(reader.headers['x-chat-id'], 'a%20b%2F%C3%A9');
    assert.match(String(reader.headers['x-run-id']), /^run_/);
    assert.match(String(reader.headers['x-request-id']), /^req_/);
    await call.end();
    await reader.whole();
  });

  test('sends a comment in silence, between frames only', async (t) => {
    cites(t, 'contract-5-heartbeat');
    await using rig = await ScriptedServer.start({ store, limits: { heartbeatMs: 100 } });
    const { reader, call } = await rig.hold({});
    await call.text('a');
    await reader.untilText('"delta":"a"');
    await reader.until(({ text }) => text.split(': \n\n').length > 3);
    await call.text('b');
    await call.end();
    await reader.whole();
    for (const block of reader.text.split('\n\n'))
      assert.ok(!block.slice(1).includes('\n:'), 'no comment inside a frame');
    assert.equal(reader.answer, 'ab');
  });

  test('reports a failed run in its own frame, then messages and end', async (t) => {
    cites(t, 'contract-5-failed', 'contract-8-stream-model-error', 'spec-7-rule-4', 'spec-3-failed-stays');
    await using rig = await ScriptedServer.start({ store });
    const { reader, call } = await rig.hold({ chatId: 'c1', usageRequestId: 'u1' });
    await call.text('Half');
    await call.fail('model_error', 'The model broke.');
    const frames = await reader.whole();
    const runId = reader.headers['x-run-id'];
    assert.deepEqual(JSON.parse(frames.at(-3)?.data ?? ''), {
      error: 'The model broke.',
      code: 'model_error',
      run_id: runId,
    });
    assert.equal(frames.at(-3)?.event, null);
    const messages = JSON.parse(frames.at(-2)?.data ?? '');
    assert.equal(messages.status, 'failed');
    assert.deepEqual(messages.error, { code: 'model_error', message: 'The model broke.' });
    assert.equal(messages.new_messages.at(-1).status, 'incomplete');
    assert.equal(frames.at(-1)?.event, 'end');
    const history = (await rig.api.get('/v2/integrations/demo/chats/c1/messages')).body.items;
    assert.equal(history[0].status, 'failed');
    assert.equal(history[0].content, 'Half');
  });

  test('sends messages only after the end is durable', async (t) => {
    cites(t, 'contract-5-messages-durable');
    let committed = false;
    let sentBefore = false;
    const waitAt = (point: string) => {
      if (point === 'end.after-commit') committed = true;
      if (point === 'messages.before' && !committed) sentBefore = true;
    };
    await using rig = await ScriptedServer.start({ store, waitAt });
    await rig.answer({});
    assert.deepEqual([committed, sentBefore], [true, false]);
  });

  test('live and late readers and replays get equal bytes', async (t) => {
    cites(t, 'contract-5-encoders', 'contract-3-events', 'contract-3-events-live', 'contract-4-replay-stream');
    await using rig = await ScriptedServer.start({ store });
    const first = await rig.api.complete({ usageRequestId: 'u1' });
    const runId = String(first.headers['x-run-id']);
    const call = await rig.controller.nextCall();
    await call.text('one ');
    await first.untilText('one ');
    const second = await rig.api.events(runId, null);
    await call.text('two');
    await second.untilText('two');
    await call.end();
    await Promise.all([first.whole(), second.whole()]);
    const third = await rig.api.events(runId, 0);
    await third.whole();
    const replay = await rig.api.complete({ usageRequestId: 'u1' });
    await replay.whole();
    assert.equal(replay.headers['x-run-replayed'], 'true');
    assert.equal(replay.headers['x-run-id'], runId);
    for (const reader of [second, third, replay])
      assert.equal(withoutComments(reader.text), withoutComments(first.text));
    assert.equal(rig.controller.calls.length, 1);
  });

  test('runs tools, journals each step, and reports a failed tool to the model', async (t) => {
    cites(t, 'contract-5-raw-events', 'contract-5-run-item');
    await using rig = await ScriptedServer.start({ store });
    await rig.api.post('/v2/integrations', { apiIntegrationId: 'tools', agency: 'test' });
    const reader = await rig.api.complete({ apiIntegrationId: 'tools', user_context: { plan: 'gold' } });
    const runId = String(reader.headers['x-run-id']);
    const first = await rig.controller.nextCall();
    assert.deepEqual(pickColumn(first.request.tools, 'name'), ['echo', 'break']);
    await first.toolCall('call_1', 'echo', '{"a":1}');
    await first.toolCall('call_2', 'break', '{}');
    await first.toolCall('call_3', 'absent', '{}');
    await first.end();
    const second = await rig.controller.nextCall();
    assert.equal(second.request.step, 5);
    const outputs = second.request.prompt.filter((item) => item.kind === 'tool_output');
    assert.deepEqual(JSON.parse(outputs[0]?.output ?? ''), {
      input: { a: 1 },
      key: `${runId}/call_1`,
      context: { plan: 'gold' },
    });
    assert.match(outputs[1]?.output ?? '', /it broke/);
    assert.match(outputs[2]?.output ?? '', /no tool `absent`/);
    await second.text('Done');
    await second.end();
    const frames = await reader.whole();
    const three = (name: string) => [name, name, name];
    assert.deepEqual(itemNames(frames), [...three('tool_called'), ...three('tool_output'), 'message_output_created']);
    assert.ok(rawTypes(frames).includes('response.function_call_arguments.done'));
    const messages = JSON.parse(frames.at(-2)?.data ?? '');
    assert.deepEqual(pickColumn(messages.new_messages, 'type'), [
      'message',
      ...three('function_call'),
      ...three('function_call_output'),
      'message',
    ]);
    assert.equal(messages.usage.request_count, 2);
    const replay = await rig.api.events(runId, null, 'tools');
    await replay.whole();
    assert.equal(withoutComments(replay.text), withoutComments(reader.text));
  });
}
