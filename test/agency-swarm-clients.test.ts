import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { STORES, type StoreName, testAgency, withoutComments } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { until } from './support/eventually.ts';
import { type ForeignStream, foreign } from './support/foreign-calls.ts';
import { calls, play, say } from './support/play.ts';
import { ScriptedServer, shownUsage } from './support/scripted-server.ts';

/* Clients of agency-swarm's own server: its example client (`requests`), and its terminal client, which appends the agency. */

const clock = defineTool({
  name: 'clock',
  description: 'The time.',
  inputSchema: { type: 'object' },
  execute: () => '12:00',
});
const agent = (name: string, more: object = {}) =>
  defineAgent({ name, description: `${name} is asked.`, instructions: `You are ${name}.`, files: false, ...more });
const team = defineAgency({
  name: 'Team',
  agents: [agent('Lead', { tools: { clock }, starters: ['Hello?'] }), agent('Writer'), agent('Closer')],
  entryPoints: ['Lead', 'Closer'],
  flows: [
    { from: 'Lead', to: 'Writer' },
    { from: 'Lead', to: 'Closer', kind: 'handoff' },
  ],
});

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies: { team, test: testAgency } });
  const swarm = async (fields: object = {}) => {
    const id = await rig.integration({ agency: 'team', ...fields });
    return { id, ...foreign(rig.api, `/v2/integrations/${id}/agency-swarm`) };
  };
  const finalFrame = (stream: ForeignStream) =>
    JSON.parse(stream.frames.find(({ event }) => event === 'messages')?.data ?? 'null');

  test('the stream is what clients of agency-swarm read', async (t) => {
    cites(t, 'compatible-20-swarm-routes', 'compatible-20-swarm-stream', 'compatible-20-swarm-headers');
    const { id, stream } = await swarm();
    await rig.member(id, 'ann');
    play(rig, { Lead: [calls(['c1', 'clock', {}]), say('Noon.')] });
    const headers = { 'x-runwire-consumer-id': 'ann', 'idempotency-key': 'once' };
    const answer = await stream('/get_response_stream', { message: 'What time is it?', chat_history: [] }, headers);
    assert.deepEqual([answer.status, answer.headers['x-agent-run-admitted']], [200, 'true']);
    const [meta] = answer.frames;
    assert.equal(meta?.event, 'meta');
    const runId: string = JSON.parse(meta?.data ?? '').run_id;
    assert.equal(runId, answer.headers['x-run-id']);
    const end = finalFrame(answer);
    assert.deepEqual(
      end.new_messages.map(({ type, callerAgent }: Record<string, unknown>) => [type, callerAgent]),
      [
        ['message', null],
        ['function_call', null],
        ['function_call_output', null],
        ['message', null],
      ],
    );
    assert.deepEqual(end.usage, shownUsage(2));
    assert.deepEqual(answer.frames.at(-1), { ...answer.frames.at(-1), event: 'end', data: '[DONE]' });
    const events = await rig.api.events(runId, null, id);
    await events.whole();
    assert.equal(withoutComments(answer.text), withoutComments(events.text), 'the default framing');
    const again = await stream('/team/get_response_stream', { message: 'What time is it?', chat_history: [] }, headers);
    assert.equal(again.headers['x-run-replayed'], 'true');
    const { body } = await rig.api.get(`/v2/integrations/${id}/runs/${runId}`);
    assert.deepEqual([body.consumerId, body.usageRequestId], ['ann', 'once']);
  });

  test('`get_response` answers with one object, also for a failed run', async (t) => {
    cites(t, 'compatible-20-swarm-response');
    const { id, post } = await swarm();
    play(rig, { Lead: [say('Hello.'), async (call) => call.fail('model_error', 'It broke.')] });
    const { status, body, headers } = await post('/get_response', { message: 'Hi' });
    assert.deepEqual([status, headers.get('content-type')], [200, 'application/json; charset=utf-8']);
    const { response, new_messages: messages, usage, run_id: runId, chatId, ...rest } = body;
    assert.deepEqual([response, messages.length, rest], ['Hello.', 2, { status: 'completed' }]);
    assert.deepEqual(usage, shownUsage());
    assert.deepEqual([headers.get('x-run-id'), headers.get('x-chat-id')], [runId, chatId]);
    const failed = await post('/get_response', { message: 'Hi' });
    assert.deepEqual([failed.status, failed.body.code, failed.body.response], [200, 'model_error', undefined]);
    assert.match(failed.body.error, /It broke/);
    const { body: run } = await rig.api.get(`/v2/integrations/${id}/runs/${failed.body.run_id}`);
    assert.equal(run.status, 'failed');
  });

  test('cancels exactly that run and answers with what it has made', async (t) => {
    cites(t, 'compatible-20-swarm-cancel');
    const { post, open } = await swarm();
    rig.controller.onCall = null;
    const reader = await open('/get_response_stream', { message: 'Talk.' });
    const call = await rig.controller.nextCall();
    await call.text('So far');
    await reader.until(({ text }) => text.includes('So far'));
    const runId = reader.headers['x-run-id'];
    const cancelled = await post('/cancel_response_stream', { run_id: runId });
    const { new_messages: messages, ...rest } = cancelled.body;
    const expected = { ok: true, run_id: runId, cancelled: true, cancel_mode: 'immediate', timed_out: false };
    assert.deepEqual([cancelled.status, rest], [200, expected]);
    assert.equal(messages.at(-1).content[0].text, 'So far');
    await reader.whole();
    assert.equal(finalFrame(reader).cancelled, true);
    const again = await post('/team/cancel_response_stream', { run_id: runId, cancel_mode: 'after_turn' });
    assert.deepEqual([again.status, again.body.cancelled], [200, true]);

    const plain = open('/get_response', { message: 'Talk.' });
    const second = await rig.controller.nextCall();
    const answer = await plain;
    await second.text('Half');
    await until(async () => (await post('/cancel_response_stream', { run_id: answer.headers['x-run-id'] })).body.ok);
    await answer.over;
    assert.deepEqual([JSON.parse(answer.text).cancelled, JSON.parse(answer.text).status], [true, 'cancelled']);

    play(rig, { Lead: [say('Done.')] });
    const done = await post('/get_response', { message: 'Hi' });
    const late = await post('/cancel_response_stream', { run_id: done.body.run_id });
    const unknown = await post('/cancel_response_stream', { run_id: 'run_unknown' });
    for (const { status, body } of [late, unknown]) assert.deepEqual([status, body.code], [404, 'run_not_found']);
    const wrong = await post('/cancel_response_stream', { run_id: runId, cancel_mode: 'never' });
    assert.deepEqual([wrong.status, wrong.body.code], [400, 'invalid_request']);
    const other = await rig.integration();
    const foreignRun = await foreign(rig.api, `/v2/integrations/${other}/agency-swarm`).post(
      '/cancel_response_stream',
      {
        run_id: runId,
      },
    );
    assert.equal(foreignRun.status, 404);
  });

  test('shows the agency as a graph, and where it is', async (t) => {
    cites(t, 'compatible-20-swarm-metadata', 'compatible-20-swarm-discovery', 'compatible-20-swarm-errors');
    const { get } = await swarm();
    const { body } = await get('/get_metadata');
    assert.deepEqual(body.metadata, {
      agencyName: 'Team',
      totalAgents: 3,
      totalTools: 1,
      agents: ['Lead', 'Writer', 'Closer'],
      entryPoints: ['Lead', 'Closer'],
      sharedInstructions: '',
      layoutAlgorithm: 'hierarchical',
    });
    const node = (name: string) => body.nodes.find((one: { id: string }) => one.id === name);
    const { data, type } = node('Lead');
    assert.equal(type, 'agent');
    assert.deepEqual(
      [data.label, data.description, data.isEntryPoint, data.toolCount, data.hasSubagents, data.conversationStarters],
      ['Lead', 'Lead is asked.', true, 1, true, ['Hello?']],
    );
    assert.deepEqual([data.capabilities, data.instructions, data.model], [['tools'], '', 'scripted/model']);
    assert.deepEqual([node('Writer').data.isEntryPoint, node('Lead_tool_0').data.parentAgent], [false, 'Lead']);
    assert.deepEqual(
      body.edges.map(({ source, target, type: kind }: Record<string, string>) => [source, target, kind]),
      [
        ['Lead', 'Lead_tool_0', 'owns'],
        ['Lead', 'Writer', 'communication'],
        ['Lead', 'Closer', 'communication'],
      ],
    );
    const rows = ['Lead', 'Closer', 'Writer'].map((name) => node(name).position);
    assert.ok(rows[0].y === rows[1].y && rows[0].x !== rows[1].x && rows[2].y > rows[0].y);
    const { paths } = (await get('/openapi.json')).body;
    const found = Object.keys(paths).find((path) => path.endsWith('/get_metadata'));
    assert.equal(found, '/team/get_metadata');
    assert.deepEqual((await get(found ?? '')).body, body);
    const wrong = await get('/other/get_metadata');
    assert.deepEqual([wrong.status, wrong.body.code, wrong.body.detail], [404, 'not_found', wrong.body.error]);
  });

  test('fields of the request become those of a run, and no other is used in silence', async (t) => {
    cites(t, 'compatible-20-swarm-agent', 'compatible-20-swarm-fields', 'compatible-20-swarm-ignored');
    const { post } = await swarm();
    const made = play(rig, { Lead: [say('1'), say('2'), say('3')], Closer: [say('c')] });
    const ignored = async (body: object) =>
      (await post('/get_response', { message: 'Hi', ...body })).headers.get('x-runwire-ignored');
    assert.equal(await ignored({ recipient_agent: 'Closer', generate_chat_name: false }), null);
    assert.equal(made.at(-1)?.request.instructions.startsWith('You are Closer.'), true);
    const config = { base_url: 'https://elsewhere.example', api_key: 'sk-secret' };
    assert.equal(
      await ignored({ recipient_agent: 'Writer', generate_chat_name: true, client_config: config, extra: 1 }),
      'recipient_agent, generate_chat_name, client_config, extra',
    );
    assert.equal(await ignored({ additional_instructions: 'Be brief.' }), 'additional_instructions');
    const parts = [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'One' },
          { type: 'input_text', text: 'Two' },
        ],
      },
    ];
    assert.equal(await ignored({ message: parts }), null);
    const item = made.at(-1)?.request.prompt.at(-1);
    assert.equal(item?.kind === 'user' ? item.text : '', 'One\nTwo');
    const refused = async (body: object) => {
      const { status, body: error, headers } = await post('/get_response_stream', { message: 'Hi', ...body });
      assert.equal(headers.get('x-agent-run-admitted'), 'false');
      assert.equal(error.detail, error.error);
      return [status, error.code];
    };
    assert.deepEqual(await refused({ recipient_agent: 'Nobody' }), [400, 'unknown_agent']);
    assert.deepEqual(await refused({ file_ids: ['file_1'] }), [400, 'unsupported_field']);
    assert.deepEqual(await refused({ message: 5 }), [400, 'invalid_request']);
    assert.deepEqual(await refused({ file_urls: { 'a.txt': 'ftp://x.example/a' } }), [400, 'invalid_request']);
  });

  test('the history of the client is that of a chat of its own', async (t) => {
    cites(t, 'compatible-20-swarm-history');
    const { id, post } = await swarm({ callerInstructions: true });
    const made = play(rig, { Lead: [calls(['c1', 'clock', {}]), say('Noon.'), say('You asked for the time.')] });
    const first = await post('/get_response', { message: 'What time is it?' });
    const between = { role: 'user', content: 'Write.', agent: 'Writer', callerAgent: 'Lead', timestamp: 1 };
    const system = { role: 'system', content: 'Answer in one line.' };
    const history = [...first.body.new_messages, between, { type: 'reasoning', summary: [] }, system];
    const second = await post('/get_response', {
      message: 'What did I ask?',
      chat_history: history,
      additional_instructions: 'Be brief.',
    });
    assert.equal(second.headers.get('x-runwire-ignored'), null);
    const { prompt, instructions } = made.at(-1)?.request ?? { prompt: [], instructions: '' };
    assert.deepEqual(
      prompt.map((item) => [item.kind, 'text' in item ? item.text : 'output' in item ? item.output : item.kind]),
      [
        ['user', 'What time is it?'],
        ['tool_call', 'tool_call'],
        ['tool_output', '12:00'],
        ['assistant', 'Noon.'],
        ['user', 'What did I ask?'],
      ],
    );
    assert.match(instructions, /You are Lead\.[\s\S]*Answer in one line\.\n\nBe brief\.$/);
    const { body: chat } = await rig.api.get(`/v2/integrations/${id}/chats/${second.body.chatId}`);
    assert.deepEqual([chat.transient, chat.numMessages, second.body.new_messages.length], [true, 4, 2]);
  });

  test('texts have the limits of our own API', async () => {
    await using small = await ScriptedServer.start({ store, limits: { messageCharacters: 5, userContextBytes: 20 } });
    const { post } = foreign(small.api, '/v2/integrations/demo/agency-swarm');
    for (const body of [{ message: 'Longer' }, { message: 'Short', user_context: { a: 'x'.repeat(20) } }]) {
      const { status, body: error } = await post('/get_response', body);
      assert.deepEqual([status, error.code], [400, 'invalid_request']);
    }
  });
}
