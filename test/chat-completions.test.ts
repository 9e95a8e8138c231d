import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { STORES, type StoreName, TEST_API_KEY } from '@runwire/test-kit';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import OpenAI, { APIError } from 'openai';
import type { ChatCompletionTool } from 'openai/resources/chat/completions';
import { cites } from '../requirements/cite.ts';
import { foreign } from './support/foreign-calls.ts';
import { ask, calls, play, say, type Turn } from './support/play.ts';
import { ScriptedServer } from './support/scripted-server.ts';

/* The clients of Chat Completions, unchanged: `openai`, LangChain, and the requests of Open WebUI and LibreChat. */

const clock = defineTool({
  name: 'clock',
  description: 'The time.',
  inputSchema: { type: 'object' },
  execute: () => '12:00',
});
const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  inputSchema: { type: 'object' },
  needsApproval: true,
  execute: () => 'refunded',
});
const agent = (name: string, more: object = {}) =>
  defineAgent({ name, description: `${name} is asked.`, instructions: `You are ${name}.`, files: false, ...more });
const team = defineAgency({
  name: 'Team',
  agents: [agent('Lead', { tools: { clock, refund } }), agent('Writer'), agent('Closer')],
  entryPoints: ['Lead', 'Closer'],
  flows: [{ from: 'Lead', to: 'Writer' }],
});

/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const WEATHER: ChatCompletionTool = {
  type: 'function',
  function: { name: 'weather', description: 'The weather.', parameters: { type: 'object', properties: {} } },
};

const thinking =
  (text: string, then: Turn): Turn =>
  async (call) => {
    await call.reasoning(text);
    await then(call);
  };
const breaking =
  (text: string): Turn =>
  async (call) => {
    await call.text(text);
    await call.fail('model_error', 'It broke.');
  };

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies: { team } });

  /** A client with its own integration. */
  async function connect(fields: object = {}) {
    const id = await rig.integration({ agency: 'team', ...fields });
    const base = `/v2/integrations/${id}/openai/v1`;
    const baseURL = rig.api.url + base;
    const openai = new OpenAI({ baseURL, apiKey: TEST_API_KEY });
    const langchain = (more: object = {}) =>
      new ChatOpenAI({ model: id, apiKey: TEST_API_KEY, configuration: { baseURL }, maxRetries: 0, ...more });
    const listRuns = async () => (await rig.api.get(`/v2/integrations/${id}/runs?limit=200`)).body.items;
    return { id, openai, langchain, listRuns, ...foreign(rig.api, base) };
  }
  const hello = [{ role: 'user' as const, content: 'Hello' }];

  test('`openai` gets the same answer streamed and plain', async (t) => {
    cites(
      t,
      'compatible-20-chat-shape',
      'compatible-20-chat-reasoning',
      'compatible-20-chat-server-tools',
      'compatible-20-chat-usage',
    );
    const { id, openai, listRuns } = await connect();
    const turns = [
      thinking('Hm.', calls(['c1', 'clock', {}], ['c2', 'clock', {}])),
      calls(ask('c3', 'Writer', 'Write.')),
      say('It is '),
      say('noon \u{1f31e}.'),
    ];
    const lead = [turns[0], turns[1], say('It is noon \u{1f31e}.')] as Turn[];
    play(rig, { Lead: [...lead, ...lead], Writer: [say('A letter.'), say('A letter.')] });
    const plain = await openai.chat.completions.create({ model: id, messages: hello });
    const [choice] = plain.choices;
    assert.equal(choice?.message.content, 'It is noon \u{1f31e}.');
    assert.deepEqual([choice.finish_reason, choice.message.tool_calls], ['stop', undefined]);
    assert.equal((choice.message as { reasoning_content?: string }).reasoning_content, 'Hm.');
    const stream = openai.chat.completions.stream({
      model: id,
      messages: hello,
      stream_options: { include_usage: true },
    });
    let reasoning = '';
    for await (const chunk of stream) {
      assert.equal(chunk.object, 'chat.completion.chunk');
      reasoning += (chunk.choices[0]?.delta as { reasoning_content?: string } | undefined)?.reasoning_content ?? '';
    }
    const streamed = await stream.finalChatCompletion();
    assert.equal(streamed.choices[0]?.message.content, choice.message.content);
    assert.deepEqual([streamed.choices[0]?.finish_reason, reasoning], ['stop', 'Hm.']);
    assert.deepEqual(streamed.usage, plain.usage);
    assert.deepEqual(
      [plain.usage?.prompt_tokens, plain.usage?.completion_tokens, plain.usage?.prompt_tokens_details?.cached_tokens],
      [40, 20, 8],
    );
    const runs = await listRuns();
    assert.deepEqual(
      runs.map(({ runId }: { runId: string }) => runId).sort(),
      [plain.id, streamed.id].map((one) => one.replace('chatcmpl_', 'run_')).sort(),
    );
    assert.deepEqual([plain.model, plain.object], ['Lead', 'chat.completion']);
  });

  test('a tool of the caller is a tool call, and its output continues the stored chat', async (t) => {
    cites(t, 'compatible-20-chat-tools', 'compatible-20-chat-stored');
    const { id, openai, listRuns } = await connect({ clientTools: true });
    const made = play(rig, { Lead: [calls(['c1', 'weather', { city: 'Rome' }]), say('Sunny.')] });
    const headers = { 'X-Runwire-Chat-Id': 'c1' };
    const messages = [{ role: 'user' as const, content: 'Weather?' }];
    const tools = [WEATHER];
    const stream = openai.chat.completions.stream({ model: 'Lead', messages, tools }, { headers });
    const asked = (await stream.finalChatCompletion()).choices[0];
    assert.equal(asked?.finish_reason, 'tool_calls');
    const [call] = asked.message.tool_calls ?? [];
    assert.ok(call?.type === 'function');
    assert.deepEqual([call.function.name, JSON.parse(call.function.arguments)], ['weather', { city: 'Rome' }]);
    const { body: chat } = await rig.api.get(`/v2/integrations/${id}/chats/c1`);
    assert.equal(call.id, `call_${chat.pending[0].questionId.slice('qst_'.length)}`);
    const output = { role: 'tool' as const, tool_call_id: call.id, content: 'sunny' };
    const answered = await openai.chat.completions.create(
      { model: 'Lead', messages: [...messages, asked.message, output], tools },
      { headers },
    );
    assert.equal(answered.choices[0]?.message.content, 'Sunny.');
    const [last, first] = await listRuns();
    assert.deepEqual([last.continues, last.chatId, first.chatId], [first.runId, 'c1', 'c1']);
    assert.ok(made.at(-1)?.request.prompt.some((item) => item.kind === 'tool_output' && item.output === 'sunny'));
  });

  test('an approval is the text of the answer, and the next message declines it', async (t) => {
    cites(t, 'compatible-20-chat-approval');
    const { openai } = await connect();
    const made = play(rig, { Lead: [calls(['c1', 'refund', { cents: 5 }]), say('I did not.')] });
    const headers = { 'X-Runwire-Chat-Id': 'c1' };
    const asking = await openai.chat.completions.create({ model: 'Lead', messages: hello }, { headers });
    assert.equal(
      asking.choices[0]?.message.content,
      'Approval needed for `refund` with {"cents":5}. The next message declines it.',
    );
    assert.equal(asking.choices[0].finish_reason, 'stop');
    await openai.chat.completions.create({ model: 'Lead', messages: [{ role: 'user', content: 'And?' }] }, { headers });
    const declined = made.at(-1)?.request.prompt.find((item) => item.kind === 'tool_output');
    assert.match(JSON.stringify(declined), /Not answered/);
  });

  test('an error in the middle is thrown with its code, and a plain one is the answer', async (t) => {
    cites(t, 'compatible-20-chat-failed', 'compatible-20-end');
    const { openai, post, listRuns } = await connect();
    const rounds = scale(4, 100);
    play(rig, { Lead: Array.from({ length: rounds + 1 }, () => breaking('So far')) });
    let thrown = 0;
    for (let round = 0; round < rounds; round += 1) {
      const stream = await openai.chat.completions.create({ model: 'Lead', messages: hello, stream: true });
      let text = '';
      const error = await (async () => {
        for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
        return null;
      })().catch((problem: unknown) => problem);
      assert.equal(text, 'So far');
      if (error instanceof APIError && error.code === 'model_error') thrown += 1;
    }
    expectEqual('errors thrown with their code', thrown, rounds);
    count({ thrown });
    const plain = await post('/chat/completions', { model: 'Lead', messages: hello });
    assert.deepEqual(
      [plain.status, plain.headers.get('x-should-retry'), plain.body.error.code],
      [200, 'false', 'model_error'],
    );
    assert.equal(plain.body.error.runId, plain.headers.get('x-run-id'));
    expectEqual('runs', (await listRuns()).length, rounds + 1);
  });

  test('a request is refused in the shape of OpenAI, and not sent again', async (t) => {
    cites(t, 'compatible-20-chat-refused');
    const { openai, post } = await connect();
    await assert.rejects(openai.chat.completions.create({ model: 'Nobody', messages: hello }), (error: unknown) => {
      assert.ok(error instanceof APIError);
      assert.deepEqual(
        [error.status, error.code, error.headers?.get('x-should-retry')],
        [404, 'model_not_found', 'false'],
      );
      return true;
    });
    const refused = async (body: object) => {
      const { status, body: answer, headers } = await post('/chat/completions', { messages: hello, ...body });
      assert.equal(headers.get('x-agent-run-admitted'), 'false');
      assert.match(answer.error.message, new RegExp(Object.keys(body)[0] ?? ''));
      return `${status} ${answer.error.code}`;
    };
    for (const body of [
      { n: 2 },
      { logprobs: true },
      { functions: [], function_call: 'auto' },
      { tool_choice: 'required' },
      { modalities: ['audio'] },
      { tools: [{ type: 'web_search' }] },
      { web_search_options: {} },
    ]) {
      assert.equal(await refused(body), '400 unsupported_field', JSON.stringify(body));
    }
    for (const body of [{ messages: [] }, { messages: 'Hi' }, { stream: 1 }, { response_format: { type: 'xml' } }]) {
      assert.equal(await refused(body), '400 invalid_request', JSON.stringify(body));
    }
  });

  test('LangChain calls, streams, uses tools and reads usage', async (t) => {
    cites(t, 'compatible-20-chat-ignored');
    const { langchain, post, listRuns } = await connect({ clientTools: true });
    const made = play(rig, {
      Lead: [say('Hi.'), say('One two'), calls(['c1', 'weather', {}]), say('Sunny.'), say('Sunny again.'), say('x')],
    });
    const answer = await langchain({ temperature: 0.5 }).invoke([
      new SystemMessage('Be brief.'),
      new HumanMessage('Hi'),
    ]);
    assert.deepEqual(
      [answer.text, (answer.usage_metadata as { total_tokens?: number } | undefined)?.total_tokens],
      ['Hi.', 15],
    );
    let text = '';
    for await (const chunk of await langchain({ streaming: true }).stream('Count.')) text += chunk.text;
    assert.equal(text, 'One two');
    const model = langchain({}).bindTools([WEATHER]);
    const asked = await model.invoke([new HumanMessage('Weather?')]);
    const [call] = asked.tool_calls ?? [];
    assert.equal(call?.name, 'weather');
    const history = [
      new HumanMessage('Weather?'),
      asked,
      new ToolMessage({ tool_call_id: call.id ?? '', content: 'sunny' }),
    ];
    assert.equal((await model.invoke(history)).text, 'Sunny.');
    assert.ok(made.at(-1)?.request.prompt.some((item) => item.kind === 'tool_output' && item.output === 'sunny'));
    const [answered, asking] = await listRuns();
    assert.deepEqual([answered.continues, answered.chatId], [asking.runId, asking.chatId]);
    // The question is answered, so the same messages are the history of another chat.
    assert.equal((await model.invoke(history)).text, 'Sunny again.');
    const [imported] = await listRuns();
    assert.notEqual(imported.chatId, asking.chatId);
    const sent = {
      messages: [{ role: 'system', content: 'Brief.' }, ...hello],
      temperature: 1,
      seed: 3,
      stream_options: { other: 1 },
    };
    const { headers } = await post('/chat/completions', sent);
    assert.equal(headers.get('x-runwire-ignored'), 'messages[0].content, temperature, seed, stream_options.other');
  });

  test('outputs continue the chat of their questions, only for its member', async (t) => {
    cites(t, 'compatible-20-chat-continues');
    const { id, openai, listRuns } = await connect({ clientTools: true });
    for (const name of ['ann', 'bob']) await rig.member(id, name);
    play(rig, { Lead: [calls(['c1', 'weather', {}]), say('For Bob.'), say('For Ann.')] });
    const question = [{ role: 'user' as const, content: 'Weather?' }];
    const tools = [WEATHER];
    const asked = await openai.chat.completions.create({ model: id, messages: question, tools, user: 'ann' });
    const message = asked.choices[0]?.message;
    assert.ok(message?.tool_calls !== undefined);
    const output = { role: 'tool' as const, tool_call_id: message.tool_calls[0]?.id ?? '', content: 'sunny' };
    const messages = [...question, message, output, { role: 'user' as const, content: 'In one word.' }];
    const text = async (user: string) => {
      const answer = await openai.chat.completions.create({ model: id, messages, tools, user });
      return answer.choices[0]?.message.content;
    };
    assert.deepEqual([await text('bob'), await text('ann')], ['For Bob.', 'For Ann.']);
    const [ofAnn, ofBob, first] = await listRuns();
    assert.deepEqual([ofAnn.continues, ofAnn.chatId, ofBob.continues], [first.runId, first.chatId, null]);
    assert.notEqual(ofBob.chatId, first.chatId);
  });

  test('images and files are parts of a message', async (t) => {
    cites(t, 'compatible-20-chat-files');
    const { id, openai } = await connect();
    const made = play(rig, { Lead: [say('A dot.'), say('Milk.')] });
    const url = `data:image/png;base64,${PNG}`;
    const content = [
      { type: 'text' as const, text: 'What is it?' },
      { type: 'image_url' as const, image_url: { url } },
    ];
    await openai.chat.completions.create({ model: id, messages: [{ role: 'user', content }] });
    const item = made.at(-1)?.request.prompt.at(-1);
    assert.match(JSON.stringify(item), /image\/png/);
    const file = { filename: 'note.txt', file_data: `data:text/plain;base64,${btoa('Buy milk.')}` };
    const parts = [...content.slice(0, 1), { type: 'file' as const, file }];
    await openai.chat.completions.create({ model: id, messages: [{ role: 'user', content: parts }] });
    assert.match(JSON.stringify(made.at(-1)?.request.prompt.at(-1)), /Buy milk\./);
    const byId = [{ type: 'file' as const, file: { file_id: 'file_1' } }];
    await assert.rejects(
      openai.chat.completions.create({ model: id, messages: [{ role: 'user', content: byId }] }),
      (error: unknown) => error instanceof APIError && error.code === 'unsupported_field',
    );
  });

  test('earlier messages are the history of a chat of its own', async (t) => {
    cites(t, 'compatible-20-chat-stateless');
    const { id, openai, listRuns } = await connect();
    const made = play(rig, { Lead: [say('Ann.'), say('Later.')] });
    const messages = [
      { role: 'user' as const, content: 'My name is Ann.' },
      { role: 'assistant' as const, content: 'Hello Ann.' },
      { role: 'user' as const, content: [{ type: 'text' as const, text: 'My name?' }] },
    ];
    await openai.chat.completions.create({ model: id, messages });
    assert.deepEqual(
      made.at(-1)?.request.prompt.map((item) => ('text' in item ? [item.kind, item.text] : [item.kind])),
      [
        ['user', 'My name is Ann.'],
        ['assistant', 'Hello Ann.'],
        ['user', 'My name?'],
      ],
    );
    const [run] = await listRuns();
    const { body: chat } = await rig.api.get(`/v2/integrations/${id}/chats/${run.chatId}`);
    assert.deepEqual([chat.transient, chat.numMessages], [true, 4]);
    assert.deepEqual((await rig.api.get(`/v2/integrations/${id}/chats`)).body.items, []);
  });

  test('structured output is one JSON text, also after a repair', async (t) => {
    cites(t, 'compatible-20-chat-structured');
    const { id, openai } = await connect();
    play(rig, { Lead: [say('{"n":"one"}'), say('{"n":1}'), say('{"n":"two"}'), say('{"n":2}')] });
    const schema = {
      type: 'object',
      properties: { n: { type: 'integer' } },
      required: ['n'],
      additionalProperties: false,
    };
    const format = { type: 'json_schema' as const, json_schema: { name: 'number', strict: true, schema } };
    const plain = await openai.chat.completions.create({ model: id, messages: hello, response_format: format });
    assert.equal(plain.choices[0]?.message.content, '{"n":1}');
    const stream = openai.chat.completions.stream({ model: id, messages: hello, response_format: format });
    assert.equal((await stream.finalChatCompletion()).choices[0]?.message.content, '{"n":2}');
  });
}
