import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cites } from '../requirements/cite.ts';
import { until } from './support/eventually.ts';
import { foreign } from './support/foreign-calls.ts';
import { ScriptedServer } from './support/scripted-server.ts';

/* Requests as Open WebUI (0.6, `routers/openai.py`, `routers/tasks.py`) and LibreChat (0.8, by LangChain) send them. */

const server = ScriptedServer.shared();

/** Every model call answers with this text. */
function answering(text: string) {
  server.controller.onCall = async (call) => {
    await call.text(text);
    await call.end();
  };
}

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string }; readonly finish_reason: string | null }[];
  readonly usage?: { readonly total_tokens: number } | null;
}

const readChunks = (text: string): Chunk[] =>
  [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, json = '']) => JSON.parse(json) as Chunk);

async function connect() {
  const id = await server.integration();
  const listRuns = async () => (await server.api.get(`/v2/integrations/${id}/runs`)).body.items;
  return { id, listRuns, ...foreign(server.api, `/v2/integrations/${id}/openai/v1`) };
}

test('Open WebUI: an answer and its background tasks are runs of their own', async (t) => {
  cites(t, 'compatible-20-chat-shape', 'compatible-20-chat-ignored');
  const { id, stream, post, listRuns } = await connect();
  await server.member(id, 'user-1');
  // The header block of docs/openai.md, with its variables filled in.
  const headers = (task: string) => ({
    'X-Runwire-Consumer-Id': 'user-1',
    'Idempotency-Key': `message-1${task}`,
    'X-OpenWebUI-Chat-Id': 'chat-1',
  });
  answering('Hi there.');
  const messages = [
    { role: 'system', content: 'You are helpful.' },
    { role: 'user', content: 'Hello' },
  ];
  const chat = {
    stream: true,
    model: id,
    messages,
    temperature: 0.8,
    stream_options: { include_usage: true },
    reasoning_effort: 'low',
    custom_param: 1,
  };
  const answer = await stream('/chat/completions', chat, headers(''));
  assert.equal(answer.headers['content-type'], 'text/event-stream; charset=utf-8');
  const chunks = readChunks(answer.text);
  assert.equal(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), 'Hi there.');
  assert.deepEqual([chunks.at(-2)?.choices[0]?.finish_reason, chunks.at(-1)?.usage?.total_tokens], ['stop', 15]);
  assert.ok(answer.text.endsWith('data: [DONE]\n\n'));
  assert.equal(answer.headers['x-runwire-ignored'], 'messages[0].content, temperature, reasoning_effort, custom_param');
  for (const [task, text] of [
    ['title_generation', '{"title":"Greeting"}'],
    ['tags_generation', '{"tags":["General"]}'],
    ['follow_up_generation', '{"follow_ups":["And?"]}'],
  ] as const) {
    answering(text);
    const content = `### Task:\nGenerate for the chat history.\n<chat_history>\nUSER: Hello\n</chat_history>`;
    const body = { model: id, messages: [{ role: 'user', content }], stream: false, max_completion_tokens: 1000 };
    const made = await post('/chat/completions', body, headers(task));
    assert.equal(made.body.choices[0].message.content, text);
    assert.equal(made.headers.get('x-runwire-ignored'), 'max_completion_tokens');
  }
  const runs = await listRuns();
  assert.deepEqual(
    runs.map(({ consumerId, usageRequestId }: Record<string, string>) => [consumerId, usageRequestId]).reverse(),
    ['', 'title_generation', 'tags_generation', 'follow_up_generation'].map((task) => ['user-1', `message-1${task}`]),
  );
  assert.equal(new Set(runs.map(({ chatId }: { chatId: string }) => chatId)).size, 4);
  const again = await stream('/chat/completions', chat, headers(''));
  assert.equal(again.headers['x-run-replayed'], 'true');
  assert.equal((await listRuns()).length, 4);
});

test('LibreChat: the conversation is a chat on the server, and its title is not part of it', async (t) => {
  cites(t, 'compatible-20-chat-stored');
  const { id, stream, post, listRuns } = await connect();
  await server.member(id, 'user-1');
  const block = { 'X-Runwire-Consumer-Id': 'user-1', 'X-Runwire-Chat-Id': 'conversation-1' };
  const options = { model: id, user: 'user-1', temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0 };
  const first = { role: 'user', content: 'Hello' };
  answering('Hi.');
  const body = { ...options, stream: true, stream_options: { include_usage: true }, messages: [first] };
  await stream('/chat/completions', body, { ...block, 'Idempotency-Key': 'message-1' });
  const messages = [
    first,
    { role: 'assistant', content: [{ type: 'text', text: 'Hi.' }] },
    { role: 'user', content: 'More' },
  ];
  await stream('/chat/completions', { ...body, messages }, { ...block, 'Idempotency-Key': 'message-2' });
  const prompt = server.controller.calls.at(-1)?.request.prompt ?? [];
  assert.deepEqual(
    prompt.map((item) => ('text' in item ? item.text : '')),
    ['Hello', 'Hi.', 'More'],
  );
  // `titleEndpoint` names an endpoint without the block: LangChain sends only the member, as `user`.
  answering('Greeting');
  const title = await post('/chat/completions', {
    ...options,
    messages: [{ role: 'user', content: 'Provide a concise title.\n\nUser: Hello\n\nAI: Hi.' }],
  });
  assert.equal(title.body.choices[0].message.content, 'Greeting');
  const { body: chat } = await server.api.get(`/v2/integrations/${id}/chats/conversation-1`);
  assert.deepEqual([chat.numMessages, chat.consumerId], [4, 'user-1']);
  assert.deepEqual(
    (await listRuns()).map(({ consumerId }: { consumerId: string }) => consumerId),
    ['user-1', 'user-1', 'user-1'],
  );
});

test('a plain answer that takes too long is cut, and its run is cancelled', async (t) => {
  cites(t, 'compatible-20-chat-length');
  await using slow = await ScriptedServer.start({ limits: { heartbeatMs: 100 } });
  const { open } = foreign(slow.api, '/v2/integrations/demo/openai/v1');
  const answer = await open('/chat/completions', { model: 'demo', messages: [{ role: 'user', content: 'Hello' }] });
  const call = await slow.controller.nextCall();
  await call.text('So far');
  assert.equal(await answer.over, true);
  assert.match(answer.text, /^\n{20,}\{/, 'white space, then the object');
  const body = JSON.parse(answer.text);
  assert.deepEqual(body.choices[0].message.content, 'So far');
  assert.equal(body.choices[0].finish_reason, 'length');
  const runId = String(answer.headers['x-run-id']);
  const getStatus = async () => (await slow.api.get(`/v2/integrations/demo/runs/${runId}`)).body.status;
  await until(async () => (await getStatus()) === 'cancelled');
});
