import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineAgency, defineAgent, defineTool, type ToolCall } from '@runwire/agency';
import { STORES, type StoreName, startTestServer } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { pickColumn, toRows } from './support/columns.ts';
import { ask, calls, play, say } from './support/play.ts';
import { ISO_TIME, messagesFrame, ScriptedServer } from './support/scripted-server.ts';

interface Item {
  readonly type: string;
  readonly call_id: string;
}

interface Step {
  readonly usage: { readonly total_tokens: number } | null;
}

const tool = (name: string, execute: (input: unknown, call: ToolCall) => string | Promise<string>, more = {}) =>
  defineTool({ name, description: name, inputSchema: { type: 'object' }, execute, ...more });

const agent = (name: string, tools: readonly ReturnType<typeof tool>[]) =>
  defineAgent({ name, description: name, instructions: `You are ${name}.`, files: false, tools: [...tools] });

/** Called when the endless tool is. */
let onEndless = () => {};

const office = defineAgency({
  name: 'Office',
  agents: [
    agent('Lead', [
      tool('refund', () => 'refunded', { needsApproval: true }),
      tool('endless', () => {
        onEndless();
        return new Promise<string>(() => {});
      }),
    ]),
    agent('Facts', []),
  ],
  flows: [{ from: 'Lead', to: 'Facts' }],
});

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('lists the finished steps of a run, newest first, with tool calls', async (t) => {
    cites(
      t,
      'contract-3-steps',
      'contract-9-step',
      'contract-9-tool-calls-are-steps',
      'contract-9-deleted-chat-steps',
      'contract-23-first-token-step',
      'contract-26-failed-output',
    );
    await using rig = await ScriptedServer.start({ store });
    const integration = await rig.integration({ agency: 'test' });
    const below = `/v2/integrations/${integration}`;
    const { reader, call, runId } = await rig.hold({ apiIntegrationId: integration, chatId: 'c1' });
    const path = `${below}/runs/${runId}/steps`;
    assert.deepEqual((await rig.api.get(path)).body, { items: [], nextCursor: null });
    await call.text('Let me see.');
    await call.toolCall('call_1', 'echo', '{}');
    await call.toolCall('call_2', 'break', '{}');
    await call.end();
    const last = await rig.controller.nextCall();
    assert.equal((await rig.api.get(path)).body.items.length, 3, 'while the run runs');
    await last.text('Done.');
    await last.end();
    const frames = await reader.whole();

    const { items } = (await rig.api.get(path)).body;
    assert.deepEqual(toRows(items, 'step', 'kind', 'tool', 'callId', 'status'), [
      [4, 'model', null, null, 'completed'],
      [3, 'tool', 'break', 'call_2', 'failed'],
      [2, 'tool', 'echo', 'call_1', 'completed'],
      [1, 'model', null, null, 'completed'],
    ]);
    for (const { startedAt, completedAt, firstEventId, lastEventId } of items) {
      assert.match(startedAt, ISO_TIME);
      assert.ok(startedAt <= completedAt && firstEventId <= lastEventId);
    }
    const { startedAt: _s, completedAt: _c, firstEventId: _f, lastEventId: _l, ...failed } = items[1];
    assert.deepEqual(failed, {
      step: 3,
      attempt: 1,
      kind: 'tool',
      agent: 'Clerk',
      callerAgent: null,
      model: null,
      tool: 'break',
      callId: 'call_2',
      status: 'failed',
      loop: null,
      files: [],
      attachments: [],
      arguments: null,
      shownArguments: null,
      guardrails: [],
      hidden: [],
      stateChanges: null,
      summary: null,
      handoff: null,
      usage: null,
      firstTokenMs: null,
      cost: null,
      error: { code: 'tool_failed', message: 'The tool failed: it broke' },
      tries: 1,
      answeredBy: null,
      continuedBy: null,
    });
    const outputs = messagesFrame(reader).new_messages.filter((item: Item) => item.type === 'function_call_output');
    outputs.sort((one: Item, other: Item) => one.call_id.localeCompare(other.call_id));
    assert.deepEqual(toRows(outputs, 'call_id', 'failed'), [
      ['call_1', undefined],
      ['call_2', true],
    ]);
    for (const { firstTokenMs, startedAt, completedAt } of [items[0], items[3]]) {
      assert.ok(firstTokenMs >= 0 && firstTokenMs <= Date.parse(completedAt) - Date.parse(startedAt) + 1, firstTokenMs);
    }
    assert.deepEqual([items[3].model, items[3].usage.total_tokens, items[3].firstEventId], ['scripted/model', 15, 2]);
    assert.equal(items[0].lastEventId, frames.at(-3)?.id, 'all events but the end are of a step');
    const page = (await rig.api.get(`${path}?limit=3`)).body;
    const rest = (await rig.api.get(`${path}?limit=3&cursor=${page.nextCursor}`)).body;
    assert.deepEqual([...page.items, ...rest.items], items);
    assert.equal(rest.nextCursor, null);

    // Tool calls are steps, not messages.
    const { body } = await rig.api.get(`${below}/chats/c1/messages`);
    assert.deepEqual(pickColumn(body.items, 'role'), ['assistant', 'user']);
    const elsewhere = await rig.integration();
    const foreign = await rig.api.get(`/v2/integrations/${elsewhere}/runs/${runId}/steps`);
    assert.deepEqual([foreign.status, foreign.body.code], [404, 'run_not_found']);
    await rig.api.delete(`${below}/chats/c1`);
    const deleted = await rig.api.get(path);
    assert.deepEqual([deleted.status, deleted.body.code], [404, 'chat_not_found']);
  });

  test('the step of a plain answer is in the row of its run', async (t) => {
    cites(t, 'contract-3-steps', 'contract-9-step');
    await using rig = await ScriptedServer.start({ store, limits: { flushMs: 600_000 } });
    const integration = await rig.integration({ agency: 'test' });
    const ask = async (...texts: string[]) => {
      const { reader, call, runId } = await rig.hold({ apiIntegrationId: integration, chatId: 'c1' });
      for (const text of texts) await call.text(text);
      await call.end();
      const frames = await reader.whole();
      const path = `/v2/integrations/${integration}/runs/${runId}`;
      return { runId, call, frames, path, run: (await rig.api.get(path)).body };
    };
    const { runId, path, frames, run } = await ask('One ', 'answer.');
    const { items, nextCursor } = (await rig.api.get(`${path}/steps?limit=1`)).body;
    const { startedAt, completedAt, firstTokenMs, ...step } = items[0];
    assert.deepEqual([items.length, nextCursor], [1, null]);
    assert.deepEqual(step, {
      step: 1,
      attempt: 1,
      kind: 'model',
      agent: 'Clerk',
      callerAgent: null,
      model: 'scripted/model',
      tool: null,
      callId: null,
      status: 'completed',
      firstEventId: 2,
      lastEventId: frames.at(-3)?.id,
      loop: null,
      arguments: null,
      shownArguments: null,
      guardrails: [],
      hidden: [],
      stateChanges: null,
      summary: null,
      handoff: null,
      files: [],
      attachments: [],
      usage: run.usage,
      cost: null,
      error: null,
      tries: 1,
      answeredBy: null,
      continuedBy: null,
    });
    const { agents, models, waiting, continuedBy } = run;
    assert.deepEqual([agents, models, waiting, continuedBy], [['Clerk'], ['scripted/model'], false, null]);
    assert.ok(firstTokenMs >= 0 && firstTokenMs <= run.firstTokenMs + 1);
    assert.ok(run.startedAt <= startedAt && startedAt <= completedAt && completedAt <= run.completedAt);
    const { dataDir } = rig.server;
    assert.deepEqual(await askStore(dataDir, `select * from steps where run_id = '${runId}'`), []);
    // All events are in one chunk, with `meta`.
    const chunks = await askStore(dataDir, `select first_id from event_chunks where run_id = '${runId}'`);
    assert.deepEqual(
      chunks.map(({ first_id: id }) => Number(id)),
      [1],
    );
    assert.deepEqual(await askStore(dataDir, 'select run_id from active_runs'), []);
    const next = await ask('Next.');
    assert.deepEqual(pickColumn(next.call.request.prompt, 'kind'), ['user', 'assistant', 'user']);
    assert.equal(next.call.request.prompt[1]?.kind === 'assistant' && next.call.request.prompt[1].text, 'One answer.');
  });

  test('calls that failed, were cut or wait for an answer are steps', async (t) => {
    cites(
      t,
      'contract-26-failed-steps',
      'contract-26-waiting-steps',
      'contract-26-only-shown',
      'contract-26-run-record',
    );
    await using rig = await ScriptedServer.start({ store, agencies: { office } });
    const apiIntegrationId = await rig.integration({ agency: 'office' });
    const below = `/v2/integrations/${apiIntegrationId}/runs`;
    const end = async (body: object) => {
      const reader = await rig.api.complete({ apiIntegrationId, chatId: 'c1', message: 'Go.', ...body });
      await reader.whole();
      return String(reader.headers['x-run-id']);
    };
    const read = async (runId: string) => {
      const { body: run } = await rig.api.get(`${below}/${runId}`);
      const { items } = (await rig.api.get(`${below}/${runId}/steps`)).body;
      const rows = toRows(items.toReversed(), 'step', 'kind', 'agent', 'tool', 'status');
      return { run, steps: items.toReversed(), rows, questionId: run.pending[0]?.questionId };
    };
    const refund = (id: string) => calls([id, 'refund', {}]);

    const asked = play(rig, {
      Lead: [calls(ask('d1', 'Facts', 'When?')), refund('r1'), say('Paid.'), refund('r2'), say('Not paid.')],
      Facts: [async (call) => await call.text('In M').then(() => call.fail('model_error', 'The model broke.'))],
    });
    const asking = await end({});
    const open = await read(asking);
    assert.deepEqual(open.rows, [
      [1, 'model', 'Lead', null, 'completed'],
      [2, 'model', 'Facts', null, 'failed'],
      [3, 'tool', 'Lead', 'send_message', 'failed'],
      [4, 'model', 'Lead', null, 'completed'],
      [5, 'tool', 'Lead', 'refund', 'waiting'],
    ]);
    const [, failed, , , waiting] = open.steps;
    assert.deepEqual([failed.error, failed.loop], [{ code: 'model_error', message: 'The model broke.' }, 'd1']);
    assert.equal(failed.model, 'scripted/model');
    assert.deepEqual([waiting.error, waiting.answeredBy, waiting.continuedBy], [null, null, null]);
    const tokens = open.steps.reduce((sum: number, { usage }: Step) => sum + (usage?.total_tokens ?? 0), 0);
    assert.equal(tokens, open.run.usage.total_tokens, 'all that was charged is in a step');
    assert.deepEqual([open.run.agents, open.run.waiting, open.run.continuedBy], [['Lead', 'Facts'], true, null]);

    // Rows that cannot be parsed: only the list reads them.
    const change = (value: string) =>
      askStore(rig.server.dataDir, `update unfinished_steps set record_json = ${value} where run_id = '${asking}'`);
    await change("'!' || record_json");
    const continuing = await end({ message: '', answers: [{ questionId: open.questionId, approve: true }] });
    assert.deepEqual((await read(continuing)).rows, [
      [1, 'tool', 'Lead', 'refund', 'completed'],
      [3, 'model', 'Lead', null, 'completed'],
    ]);
    const second = await end({});
    assert.doesNotMatch(JSON.stringify(asked.map(({ request }) => request.prompt)), /In M/);
    await change('substr(record_json, 2)');
    const answered = await read(asking);
    const { at, ...by } = answered.steps[4].answeredBy;
    assert.deepEqual(by, { kind: 'key', id: null, name: 'RUNWIRE_API_KEY' });
    assert.match(at, ISO_TIME);
    assert.deepEqual([answered.steps[4].status, answered.steps[4].continuedBy], ['waiting', continuing]);
    assert.deepEqual([answered.run.waiting, answered.run.continuedBy], [false, continuing]);

    const later = await end({});
    const ignored = await read(second);
    const { status, error, answeredBy } = ignored.steps[1];
    assert.deepEqual([status, error.code, answeredBy], ['failed', 'not_answered', null]);
    assert.equal(ignored.run.continuedBy, later);
    const listed = (await rig.api.get(`${below}?chatId=c1`)).body.items.toReversed();
    assert.deepEqual(toRows(listed, 'runId', 'waiting', 'continuedBy'), [
      [asking, false, continuing],
      [continuing, false, null],
      [second, false, later],
      [later, false, null],
    ]);

    // A cancel cuts a model call and a tool call.
    rig.controller.onCall = null;
    const cut = async (during: 'model' | 'tool') => {
      const { reader, call, runId } = await rig.hold({ apiIntegrationId, chatId: during });
      await call.text('Half');
      if (during === 'tool') {
        const called = new Promise<void>((resolve) => {
          onEndless = resolve;
        });
        await call.toolCall('e1', 'endless', '{}');
        await call.end();
        await called;
      } else await reader.untilText('"Half"');
      await rig.api.post(`${below}/${runId}/cancel`);
      return read(runId);
    };
    const cutModel = await cut('model');
    assert.deepEqual(cutModel.rows, [[1, 'model', 'Lead', null, 'cancelled']]);
    assert.deepEqual([cutModel.steps[0].error.code, cutModel.steps[0].usage], ['cancelled', cutModel.run.usage]);
    assert.deepEqual((await cut('tool')).rows, [
      [1, 'model', 'Lead', null, 'completed'],
      [2, 'tool', 'Lead', 'endless', 'cancelled'],
    ]);
    await rig.api.delete(`/v2/integrations/${apiIntegrationId}/chats/c1`);
    const left = await askStore(rig.server.dataDir, `select run_id from unfinished_steps where run_id = '${asking}'`);
    assert.deepEqual(left, []);
    const { agents, models, waiting: isWaiting, continuedBy } = (await rig.api.get(`${below}/${asking}`)).body;
    assert.deepEqual([agents, models, isWaiting, continuedBy], [null, null, null, null]);
  });

  test('the offline model calls a tool of the demo agency in two steps', async (t) => {
    cites(t, 'contract-1-offline-tools', 'contract-1-tool');
    await using server = await startTestServer({ store });
    const ask = async (message: string) => {
      const reader = await server.api.complete({ message });
      await reader.whole();
      const { status, new_messages: said, usage } = messagesFrame(reader);
      const output = said.find(({ type }: { type: string }) => type === 'function_call_output')?.output;
      const runId = reader.headers['x-run-id'];
      const { items } = (await server.api.get(`/v2/integrations/demo/runs/${runId}/steps`)).body;
      const steps = items.map(({ tool, status }: Record<string, unknown>) => `${tool ?? 'model'} ${status}`);
      return { status, output, answer: reader.answer, steps, requests: usage.request_count };
    };
    const time = await ask('/tool');
    assert.deepEqual([time.status, time.requests], ['completed', 2]);
    assert.deepEqual(time.steps, ['model completed', 'clock completed', 'model completed']);
    const { utc, timeZone } = JSON.parse(time.output);
    assert.equal(timeZone, 'UTC');
    assert.ok(Math.abs(Date.parse(utc) - Date.now()) < 60_000);
    assert.ok(time.answer.includes(utc), time.answer);

    const sum = await ask('/tool calculate {"operation":"multiply","a":6,"b":7}');
    assert.deepEqual([sum.output, sum.answer], ['42', 'The tool was called. It returned: 42']);
    for (const [message, told] of [
      ['/tool calculate {"operation":"divide","a":6,"b":0}', /^The tool failed: The result is not a number\.$/],
      ['/tool calculate', /^The arguments are wrong: /],
      ['/tool clock {"timeZone":"Nowhere/Else"}', /^The tool failed: /],
      ['/tool hammer', /^There is no tool `hammer`\.$/],
    ] as const) {
      const { status, output, steps, answer } = await ask(message);
      assert.match(output, told);
      assert.deepEqual([status, steps.length, steps[1].split(' ')[1]], ['completed', 3, 'failed']);
      assert.ok(answer.includes(output));
    }
  });
}
