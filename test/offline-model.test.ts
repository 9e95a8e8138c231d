import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { after, test } from 'node:test';
import { type StreamReader, startTestServer } from '@runwire/test-kit';
import { demoAgency } from '../packages/server/src/agencies/demo-agency.ts';
import { cites } from '../requirements/cite.ts';
import { at, upload } from './support/uploads.ts';

/* The offline model as a new user meets it. */

const server = await startTestServer();
after(() => server[Symbol.asyncDispose]());

const deltas = (reader: StreamReader) => reader.frames.filter(({ data }) => data.includes('output_text.delta'));
const ending = (reader: StreamReader) => JSON.parse(reader.frames.at(-2)?.data ?? '{}');

test('/slow begins immediately, takes at most 600 s, needs a number', async (t) => {
  cites(t, 'contract-1-slow');
  const brief = await server.api.complete({ message: '/slow 0' });
  await brief.whole();
  const pauses = deltas(brief).length - 1;
  const timers: number[] = [];
  const hook = createHook({
    init(_id, type, _trigger, resource) {
      if (type === 'Timeout') timers.push((resource as { _idleTimeout: number })._idleTimeout);
    },
  }).enable();
  const reader = await server.api.complete({ message: '/slow 86400' });
  await reader.until(() => deltas(reader).length === 1);
  const runId = reader.headers['x-run-id'];
  assert.equal((await server.api.post(`/v2/integrations/demo/runs/${runId}/cancel`)).body.status, 'cancelled');
  hook.disable();
  const planned = (total: number) => timers.some((ms) => Math.abs(ms - (total * 1000) / pauses) < 2);
  assert.deepEqual([planned(600), planned(86_400)], [true, false]);
  const unclear = await server.api.complete({ message: '/slow down' });
  await unclear.whole();
  assert.match(unclear.answer, /\/slow 10/);
});

test('/fail writes some text and then fails with model_error', async (t) => {
  cites(t, 'contract-1-fail');
  const reader = await server.api.complete({ message: '/fail please' });
  await reader.whole();
  assert.equal(deltas(reader).length, 1);
  assert.equal(JSON.parse(reader.frames.at(-3)?.data ?? '{}').code, 'model_error');
  assert.equal(ending(reader).status, 'failed');
});

test('/read reads a file with the tool of the agent and answers its content', async (t) => {
  cites(t, 'contract-1-read', 'contract-1-offline-sandbox');
  await upload(server.api, 'Buy milk.\nBuy tea.\n', at('/app/mnt/u/my notes.txt'));
  const answerTo = async (message: string, fields = {}) => {
    const reader = await server.api.complete({ message, ...fields });
    await reader.whole();
    assert.equal(ending(reader).status, 'completed');
    return reader;
  };
  const sandboxFiles = [{ name: 'my notes.txt', path: '/app/mnt/u/my notes.txt' }];
  const read = await answerTo('/read /app/mnt/u/my notes.txt', { sandboxFiles });
  const head = '/app/mnt/u/my notes.txt (text/plain, 19 bytes), lines 1 to 2 of 2:';
  assert.equal(read.answer, `${head}\nBuy milk.\nBuy tea.`);
  const { body } = await server.api.get(`/v2/integrations/demo/runs/${read.headers['x-run-id']}/steps`);
  const steps = body.items.map(({ kind, tool, status }: Record<string, unknown>) => [kind, tool, status]);
  assert.deepEqual(steps.toSorted(), [
    ['model', null, 'completed'],
    ['model', null, 'completed'],
    ['tool', 'read_file', 'completed'],
  ]);
  assert.equal((await answerTo('/read /app/mnt/none')).answer, 'There is no file /app/mnt/none.');
  assert.match((await answerTo('/read /etc/passwd')).answer, /^`path` must begin with `\/app\/mnt\/`/);
  assert.match((await answerTo('/read')).answer, /^Add the path of the file to read/);
  const told = await answerTo('Look', { sandboxFiles });
  assert.match(told.answer, /You said: Look \(1 file came with it/);
  const announced =
    'Look\n\nFiles that came with this message, by name and path:\n- my notes.txt: /app/mnt/u/my notes.txt';
  const bytes = Buffer.byteLength(demoAgency.agents[0]?.instructions + announced);
  assert.equal(ending(told).usage.input_tokens, Math.ceil(bytes / 4));
  const unseen = 'There is no file /app/mnt/u/my notes.txt.';
  assert.equal((await answerTo('/read /app/mnt/u/my notes.txt')).answer, unseen, 'it was announced in another chat');
});

/** A run's items, as `agent type: what`. */
const toItems = (reader: StreamReader): string[] =>
  ending(reader).new_messages.map((item: Record<string, string> & { content: { text: string }[] | string }) => {
    const { type, name, output, content, agent, callerAgent } = item;
    const what = name ?? output ?? (typeof content === 'string' ? content : content[0]?.text);
    return `${callerAgent === null ? '' : `${callerAgent} > `}${agent} ${type}: ${what}`;
  });

test('/team asks two agents concurrently, one of which uses a tool, and hands over', async () => {
  const task = 'Plan 3 days in Athens for 80 euros a day.';
  const reader = await server.api.complete({ message: `/team ${task}` });
  await reader.whole();
  const answer = [
    `This is the offline demo model: no provider was asked. You said: ${task}`,
    'Guide has taken the conversation over.',
    `Guide was asked and said: I would now do my part of “${task}”.`,
    'Accountant was asked and said: 3 times 80 is 240.',
  ].join('\n');
  assert.deepEqual([ending(reader).status, reader.answer], ['completed', answer]);
  const items = toItems(reader);
  for (const item of [
    'Concierge function_call: send_message',
    'Concierge > Accountant function_call: calculate',
    'Concierge > Accountant function_call_output: 240',
    'Concierge function_call: transfer_to_Guide',
    `Guide message: ${answer}`,
  ])
    assert.ok(items.includes(item), `${item} in ${items.join('; ')}`);
  const names = reader.frames.flatMap(({ event, data }) => (event === null ? [JSON.parse(data).data] : []));
  const events = names.map(({ name, type }) => name ?? type);
  for (const name of ['handoff_requested', 'agent_updated_stream_event', 'handoff_occured']) {
    assert.equal(events.filter((event) => event === name).length, 1, name);
  }
  const { body } = await server.api.get(`/v2/integrations/demo/runs/${reader.headers['x-run-id']}/steps`);
  const models = body.items.filter(({ kind }: { kind: string }) => kind === 'model');
  assert.deepEqual(models.map(({ agent }: { agent: string }) => agent).toSorted(), [
    'Accountant',
    'Accountant',
    'Concierge',
    'Concierge',
    'Guide',
    'Guide',
  ]);
});

test('an agent with `output` answers a value that its schema accepts', async () => {
  const output = {
    type: 'object',
    properties: {
      city: { type: 'string', minLength: 9 },
      days: { type: 'integer', minimum: 3 },
      mood: { enum: ['calm', 'busy'] },
      stops: { type: 'array', minItems: 2, items: { $ref: '#/$defs/stop' } },
      note: { type: 'string' },
    },
    required: ['city', 'days', 'mood', 'stops'],
    additionalProperties: false,
    $defs: { stop: { type: 'object', properties: { at: { type: 'string', format: 'date' } }, required: ['at'] } },
  };
  const agents = [{ name: 'Planner', instructions: 'Plan.', output }];
  await using planning = await startTestServer({ agencies: { planning: { name: 'Planning', agents } } });
  await planning.api.post('/v2/integrations', { apiIntegrationId: 'planning', agency: 'planning' });
  const reader = await planning.api.complete({ apiIntegrationId: 'planning', message: 'Plan a trip' });
  await reader.whole();
  const value = { city: 'offline..', days: 3, mood: 'calm', stops: [{ at: '2030-01-01' }, { at: '2030-01-01' }] };
  assert.deepEqual([ending(reader).status, JSON.parse(reader.answer)], ['completed', value]);
});

test('elsewhere in a message such words are words', async () => {
  const reader = await server.api.complete({ message: 'Say /fail' });
  await reader.whole();
  assert.equal(ending(reader).status, 'completed');
});

test('the offline model reports usage: bytes by four, rounded up', async (t) => {
  cites(t, 'contract-1-offline-usage', 'contract-1-offline-tokens');
  const instructions = demoAgency.agents[0]?.instructions ?? '';
  const tokens = (text: string) => Math.ceil(Buffer.byteLength(text) / 4);
  for (const message of ['', 'a', 'ab', 'abc', 'é😀']) {
    const reader = await server.api.complete({ message });
    await reader.whole();
    const input = tokens(instructions + message);
    const output = tokens(reader.answer);
    assert.deepEqual(ending(reader).usage, {
      request_count: 1,
      input_tokens: input,
      cached_tokens: 0,
      output_tokens: output,
      reasoning_tokens: 0,
      total_tokens: input + output,
    });
  }
});
