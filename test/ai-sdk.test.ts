import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { STORES, type StoreName, TEST_API_KEY } from '@runwire/test-kit';
import {
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai';
import { z } from 'zod';
import { cites } from '../requirements/cite.ts';
import { ask, calls, play, say } from './support/play.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { missingBubblewrap } from './support/services.ts';
import { UiChat, type UiChatOptions } from './support/ui-chat.ts';

const refunds: number[] = [];

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  inputSchema: z.object({ cents: z.number().int() }),
  needsApproval: ({ cents }) => cents > 10,
  execute: ({ cents }) => {
    refunds.push(cents);
    return `refunded ${cents}`;
  },
});

const stock = defineTool({
  name: 'stock',
  description: 'Counts.',
  inputSchema: z.object({ of: z.string() }),
  execute: ({ of }) => {
    if (of === 'void') throw new Error('nothing to count');
    return { of, count: 3 };
  },
});

const position = defineTool({ name: 'position', description: 'Where the user is.', inputSchema: z.object({}) });

const agent = (name: string, more: object = {}) =>
  defineAgent({ name, description: `${name} is asked.`, instructions: `You are ${name}.`, files: false, ...more });

const shop = defineAgency({
  name: 'Shop',
  agents: [
    agent('Lead', { tools: { refund, stock, position } }),
    agent('Billing', { tools: [refund] }),
    agent('Closer'),
  ],
  entryPoints: ['Lead', 'Closer'],
  flows: [
    { from: 'Lead', to: 'Billing' },
    { from: 'Lead', to: 'Closer', kind: 'handoff' },
  ],
});

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies: { shop } });
  let integration = '';
  let api = '';
  beforeEach(async () => {
    refunds.length = 0;
    integration = await rig.integration({ agency: 'shop', clientTools: true });
    api = `${rig.server.url}/v2/integrations/${integration}/ai-sdk/chat`;
  });

  const open = (options: Partial<UiChatOptions> = {}) => new UiChat({ id: 'c', api, token: TEST_API_KEY, ...options });
  const runs = async () => (await rig.api.get(`/v2/integrations/${integration}/runs`)).body.items;
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${api}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_API_KEY}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  test('a text is one message with its run, usage and status', async (t) => {
    cites(t, 'compatible-20-ui-metadata', 'compatible-20-ui-steps', 'compatible-20-ui-once');
    play(rig, {
      Lead: [
        async (call) => {
          await call.reasoning('Hm.');
          await call.text('Hel');
          await call.text('lo');
          await call.end();
        },
        say('Again.'),
      ],
    });
    const chat = open();
    await chat.sendMessage({ text: 'Hi' });
    assert.equal(chat.error, undefined);
    assert.deepEqual(chat.parts, ['reasoning done: Hm.', 'text done: Hello']);
    const [run] = await runs();
    const { id, metadata } = chat.lastMessage as UIMessage;
    assert.equal(id, run.runId.replace('run_', 'msg_'));
    const about = metadata as {
      runId: string;
      chatId: string;
      agent: string;
      status: string;
      usage: { totalTokens: number };
    };
    assert.deepEqual([about.runId, about.chatId, about.agent, about.status], [run.runId, 'c', 'Lead', 'completed']);
    assert.equal(about.usage.totalTokens, run.usage.total_tokens);
    assert.equal(chat.finished[0]?.finishReason, 'stop');
    assert.equal(run.usageRequestId, `ui:c:${chat.messages[0]?.id}`);
    await chat.sendMessage({ text: 'More' });
    assert.deepEqual(chat.parts, ['text done: Again.']);
    assert.deepEqual(
      rig.controller.calls.at(-1)?.request.prompt.map((item) => ('text' in item ? item.text : item.kind)),
      ['Hi', 'Hello', 'More'],
    );
  });

  test('calls of the server are dynamic and executed by the provider', async (t) => {
    cites(t, 'compatible-20-ui-server-tools', 'compatible-20-ui-agents');
    play(rig, {
      Lead: [
        calls(['c1', 'stock', { of: 'tea' }], ['c2', 'stock', { of: 'void' }], ['c3', 'refund', { cents: 5 }]),
        calls(ask('c4', 'Billing', 'Sum?')),
        calls(['c5', 'transfer_to_Closer', {}]),
      ],
      Billing: [say('Billed.')],
      Closer: [say('Bye.')],
    });
    const made: string[] = [];
    const chat = open({ onToolCall: ({ toolCall }) => void made.push(toolCall.toolName) });
    await chat.sendMessage({ text: 'Go' });
    assert.equal(chat.error, undefined);
    assert.deepEqual(chat.parts, [
      'dynamic stock output-available {"of":"tea"} {"of":"tea","count":3}',
      'dynamic stock output-error {"of":"void"} "The tool failed: nothing to count"',
      'dynamic refund output-available {"cents":5} "refunded 5"',
      'dynamic send_message output-available {"recipient_agent":"Billing","message":"Sum?"} "Billed."',
      'data-agent: {"agent":"Closer"}',
      'text done: Bye.',
    ]);
    assert.deepEqual(made, []);
    assert.equal((await runs()).length, 1);
  });

  test('outputs of tools of the caller continue the message', async (t) => {
    cites(t, 'compatible-20-ui-questions', 'compatible-20-ui-answers', 'compatible-20-ui-client-tools');
    const made = play(rig, {
      Lead: [
        async (call) => {
          await call.text('Wait.');
          await call.toolCall('c1', 'position', '{}');
          await call.toolCall('c2', 'stock', '{"of":"tea"}');
          await call.toolCall('c3', 'pick', '{"from":["a","b"]}');
          await call.end();
        },
        say('Done.'),
        say('Next.'),
      ],
    });
    const before = made.length;
    const pick = { name: 'pick', description: 'Picks.', inputSchema: { type: 'object' } };
    const chat = open({
      body: { clientTools: [pick] },
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall: ({ toolCall: { toolName, toolCallId } }) => {
        const output = toolName === 'pick' ? 'a' : { at: 'home' };
        void chat.addToolOutput({ tool: toolName, toolCallId, output });
      },
    });
    await chat.sendMessage({ text: 'Go' });
    assert.equal(chat.error, undefined);
    assert.deepEqual(chat.parts, [
      'text done: Wait.',
      'dynamic stock output-available {"of":"tea"} {"of":"tea","count":3}',
      'tool-position output-available {} {"at":"home"}',
      'tool-pick output-available {"from":["a","b"]} "a"',
      'text done: Done.',
    ]);
    assert.equal(chat.messages.length, 2);
    assert.deepEqual(
      chat.finished.map(({ finishReason }) => finishReason),
      ['tool-calls', 'stop'],
    );
    const [second, first] = await runs();
    assert.deepEqual([second.continues, (await runs()).length], [first.runId, 2]);
    assert.deepEqual(
      made[before + 1]?.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : [])),
      ['{"at":"home"}', '{"of":"tea","count":3}', 'a'],
    );
    await chat.sendMessage({ text: 'And?' });
    assert.deepEqual(chat.parts, ['text done: Next.']);
  });

  test('an approved call is made once, a declined one never', async (t) => {
    cites(t, 'compatible-20-ui-questions', 'compatible-20-ui-answers');
    play(rig, {
      Lead: [
        calls(['c1', 'refund', { cents: 50 }], ['c2', 'refund', { cents: 70 }], ask('c3', 'Billing', 'Pay.')),
        say('Paid.'),
      ],
      Billing: [calls(['c1', 'refund', { cents: 90 }]), say('Billed.')],
    });
    const chat = open({ sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses });
    await chat.sendMessage({ text: 'Go' });
    const asked = chat.lastMessage?.parts.flatMap((part) => ('approval' in part && part.approval ? [part] : [])) ?? [];
    assert.deepEqual(
      asked.map(({ state, input }) => [state, input]),
      [50, 70, 90].map((cents) => ['approval-requested', { cents }]),
    );
    for (const { input, approval } of asked) {
      const { cents } = input as { cents: number };
      await chat.addToolApprovalResponse({ id: approval?.id ?? '', approved: cents !== 70, reason: `for ${cents}` });
    }
    await idle(chat, 2);
    assert.equal(chat.error, undefined);
    assert.deepEqual(chat.parts, [
      'dynamic send_message output-available {"recipient_agent":"Billing","message":"Pay."} "Billed."',
      'dynamic refund output-available {"cents":50} "refunded 50"',
      'dynamic refund output-denied {"cents":70} null',
      'dynamic refund output-available {"cents":90} "refunded 90"',
      'text done: Paid.',
    ]);
    assert.deepEqual(refunds, [50, 90]);
    assert.equal((await runs()).length, 2);
  });

  test('a reload during a run that continues a message shows the whole message', async (t) => {
    cites(t, 'compatible-20-ui-replay');
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    play(rig, {
      Lead: [
        async (call) => {
          await call.text('Wait.');
          await call.toolCall('c1', 'position', '{}');
          await call.toolCall('c2', 'refund', '{"cents":50}');
          await call.end();
        },
        async (call) => {
          await call.text('Half');
          await held;
          await call.text(' done.');
          await call.end();
        },
      ],
    });
    const chat = open();
    await chat.sendMessage({ text: 'Go' });
    const [user] = chat.messages as [UIMessage];
    for (const part of chat.lastMessage?.parts ?? []) {
      if (part.type === 'tool-position')
        await chat.addToolOutput({ tool: 'position', toolCallId: part.toolCallId, output: { at: 'home' } });
      else if (part.type === 'dynamic-tool')
        await chat.addToolApprovalResponse({ id: part.approval?.id ?? '', approved: true, reason: 'Fair.' });
    }
    const first = chat.lastMessage?.id;
    const sent = chat.sendMessage(undefined);
    await until(() => chat.parts.includes('text streaming: Half'));
    const reloaded = open({ messages: [user] });
    const resumed = reloaded.resumeStream();
    await until(() => reloaded.parts.includes('text streaming: Half'));
    // The asking run's answer is stored: a page can load it too.
    const loaded = open({
      messages: [user, { id: first ?? '', role: 'assistant', parts: [{ type: 'text', text: 'Wait.' }] }],
    });
    const again = loaded.resumeStream();
    await until(() => loaded.parts.includes('text streaming: Half'));
    release();
    await Promise.all([sent, resumed, again]);
    const parts = [
      'text done: Wait.',
      'tool-position output-available {} {"at":"home"}',
      'dynamic refund output-available {"cents":50} "refunded 50"',
      'text done: Half done.',
    ];
    for (const one of [chat, reloaded, loaded]) {
      assert.equal(one.error, undefined);
      assert.deepEqual(one.parts, parts);
      assert.deepEqual(
        one.messages.map(({ id }) => id),
        [user.id, first],
      );
    }
    // Nothing runs any more.
    const late = open({ messages: [user] });
    await late.resumeStream();
    assert.deepEqual([late.status, late.messages.length], ['ready', 1]);
    assert.deepEqual([refunds.length, (await runs()).length], [1, 2]);
  });

  test('stop cancels the run, and the message ends as aborted', async (t) => {
    cites(t, 'compatible-20-ui-stop', 'compatible-20-ui-ends');
    play(rig, { Lead: [(call) => call.text('Never en'), say('Next.')] });
    const chat = open();
    const sent = chat.sendMessage({ text: 'Go' });
    await until(() => chat.parts.includes('text streaming: Never en'));
    const [{ runId }] = await runs();
    assert.equal((await post('/c/stop', { activeStreamId: 'run_of_another_answer' })).status, 204);
    const stopped = await post('/c/stop', { activeStreamId: runId });
    assert.deepEqual([stopped.status, ((await stopped.json()) as { cancelled: boolean }).cancelled], [200, true]);
    await sent;
    assert.deepEqual(chat.parts, ['text done: Never en']);
    assert.deepEqual([chat.status, chat.finished[0]?.finishReason], ['ready', 'interrupted']);
    assert.equal((chat.lastMessage?.metadata as { status: string } | undefined)?.status, 'cancelled');
    assert.equal((await post('/c/stop', undefined)).status, 204);
    await chat.sendMessage({ text: 'Go on' });
    assert.deepEqual(chat.parts, ['text done: Next.']);
  });

  test('a failed run is an error, with usage and status in the metadata', async (t) => {
    cites(t, 'compatible-20-ui-ends');
    play(rig, { Lead: [(call) => call.text('Half').then(() => call.fail('model_error', 'The model is ill.'))] });
    const chat = open();
    await chat.sendMessage({ text: 'Go' });
    assert.equal(chat.status, 'error');
    assert.deepEqual(chat.parts, ['text done: Half']);
    const [run] = await runs();
    const about = chat.lastMessage?.metadata as { status: string; error: { code: string } };
    assert.deepEqual([run.status, about.status, about.error.code], ['failed', 'failed', run.error.code]);
    assert.equal(chat.error?.message, run.error.message);
  });

  test('a new message in a busy chat cancels its run, or is refused', async (t) => {
    cites(t, 'compatible-20-ui-busy');
    play(rig, { Lead: [(call) => call.text('Never en'), say('Next.')] });
    const chat = open();
    const sent = chat.sendMessage({ text: 'Go' });
    await until(() => chat.parts.length > 0);
    const refused = open({ api: `${api}?whenBusy=refuse` });
    await refused.sendMessage({ text: 'Now' });
    assert.match(refused.error?.message ?? '', /"code":"run_active"/);
    const other = open();
    await other.sendMessage({ text: 'Now' });
    await sent;
    assert.deepEqual([other.parts, chat.finished[0]?.finishReason], [['text done: Next.'], 'interrupted']);
    assert.deepEqual(
      (await runs()).map(({ status }: { status: string }) => status),
      ['completed', 'cancelled'],
    );
  });

  test('a repeated request is the same run', async (t) => {
    cites(t, 'compatible-20-ui-stream', 'compatible-20-ui-once');
    play(rig, { Lead: [say('Once.')] });
    const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Go' }] };
    const body = { id: 'c', messages: [message], trigger: 'submit-message', agent: 'Lead' };
    const first = await post('', body);
    const text = await first.text();
    const second = await post('', body);
    assert.deepEqual(
      [first.status, first.headers.get('x-agent-run-admitted'), await second.text()],
      [200, 'true', text],
    );
    assert.deepEqual([second.headers.get('x-run-replayed'), (await runs()).length], ['true', 1]);
    assert.equal(first.headers.get('x-vercel-ai-ui-message-stream'), 'v1');
    assert.ok(text.endsWith('data: [DONE]\n\n'));
    const other = await post('', { ...body, agent: 'Closer' });
    assert.deepEqual([other.status, ((await other.json()) as { code: string }).code], [400, 'usage_request_id_reused']);
  });

  test('an unknown chat gets the earlier messages as its history', async (t) => {
    cites(t, 'compatible-20-ui-history', 'compatible-20-ui-ignored', 'compatible-20-ui-once');
    const made = play(rig, { Lead: [say('Fine.'), say('Next.')] });
    const before = made.length;
    const text = (role: string, said: string) => ({ id: `m-${said}`, role, parts: [{ type: 'text', text: said }] });
    const call = {
      type: 'tool-pick',
      toolCallId: 'call_1',
      state: 'output-available',
      input: { of: 1 },
      output: { is: 2 },
    };
    const answer = {
      id: 'a',
      role: 'assistant',
      parts: [{ type: 'step-start' }, call, { type: 'text', text: 'Two.' }],
    };
    const messages = [text('system', 'Be short.'), text('user', 'Pick.'), answer, text('user', 'Sure?')];
    const id = 'x'.repeat(256);
    const reader = await post('', { id, messages, trigger: 'submit-message', temperature: 1 });
    assert.equal(reader.status, 200);
    await reader.text();
    assert.equal(reader.headers.get('x-runwire-ignored'), 'messages[0].parts, temperature');
    assert.match((await runs())[0].usageRequestId, /^ui:[0-9a-f]{64}$/);
    assert.deepEqual(
      made[before]?.request.prompt.map(({ kind, ...item }) => [kind, Object.values(item).at(-1)]),
      [
        ['user', 'Pick.'],
        ['tool_call', '{"of":1}'],
        ['tool_output', '{"is":2}'],
        ['assistant', 'Two.'],
        ['user', 'Sure?'],
      ],
    );
    // The chat is stored now, so its own messages count.
    const lie = [...messages.slice(1), text('assistant', 'Never said.'), text('user', 'And?')];
    await (await post('', { id, messages: lie })).text();
    assert.deepEqual(
      made[before + 1]?.request.prompt.slice(-3).map((item) => 'text' in item && item.text),
      ['Sure?', 'Fine.', 'And?'],
    );
  });

  test('a client token reaches the chats of its member, and answers with permission only', async (t) => {
    cites(t, 'compatible-20-ui-answer-permission', 'compatible-20-ui-history', 'compatible-20-ui-member');
    play(rig, { Lead: [calls(['c1', 'refund', { cents: 50 }]), say('Paid.')] });
    await rig.member(integration, 'ann');
    const mint = async (can: readonly string[]) => {
      const { body } = await rig.api.post(`/v2/integrations/${integration}/client_tokens`, { consumerId: 'ann', can });
      return String(body.clientToken);
    };
    const token = await mint(['run', 'read']);
    const chat = open({ token });
    await chat.sendMessage({ text: 'Go' });
    assert.equal((await runs())[0].consumerId, 'ann');
    const [part] =
      chat.lastMessage?.parts.flatMap((one) => ('approval' in one && one.approval ? [one.approval] : [])) ?? [];
    await chat.addToolApprovalResponse({ id: part?.id ?? '', approved: true });
    await chat.sendMessage(undefined);
    assert.match(chat.error?.message ?? '', /"code":"token_forbidden"/);
    const may = open({ token: await mint(['run', 'answer']), messages: chat.messages });
    await may.sendMessage(undefined);
    assert.deepEqual(may.parts, ['dynamic refund output-available {"cents":50} "refunded 50"', 'text done: Paid.']);
    assert.deepEqual(refunds, [50]);
    const refused = async (body: object, headers: Record<string, string> = {}) => {
      const messages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }];
      const answer = await post('', { id: 'new', messages, ...body }, { authorization: `Bearer ${token}`, ...headers });
      return `${answer.status} ${((await answer.json()) as { code: string }).code}`;
    };
    assert.equal(await refused({ user_context: { a: 1 } }), '400 invalid_request');
    assert.equal(await refused({ consumerId: 'bob' }), '403 token_forbidden');
    const earlier = [
      { id: 'a', role: 'assistant', parts: [{ type: 'text', text: 'I promised.' }] },
      { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
    ];
    assert.equal(await refused({ messages: earlier }), '403 token_forbidden');
    assert.equal(
      await refused({}, { origin: 'https://page.example', authorization: 'Bearer no' }),
      '401 invalid_api_key',
    );
    // A chat of another member looks like a missing chat.
    await rig.api.post(`/v2/integrations/${integration}/chats`, { chatId: 'other' });
    const foreign = await fetch(`${api}/other/stream`, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(foreign.status, 204);
  });

  test('a page of another origin may send the request and read the answer', async (t) => {
    cites(t, 'compatible-20-ui-stream');
    const preflight = await fetch(api, {
      method: 'OPTIONS',
      headers: { origin: 'https://page.example', 'access-control-request-method': 'POST' },
    });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers.get('access-control-allow-headers'), 'Authorization, *');
  });

  test('regenerate and edit replace the end of the chat', async (t) => {
    cites(t, 'compatible-20-ui-forks', 'compatible-20-ui-once');
    const made = play(rig, { Lead: ['One.', 'Two.', 'Two again.', 'Second.', 'First.', 'Last.'].map(say) });
    const before = made.length;
    const chat = open();
    const prompt = (index: number) =>
      made[before + index]?.request.prompt.map((item) => ('text' in item ? item.text : item.kind));
    const stored = async () => {
      const { body } = await rig.api.get(`/v2/integrations/${integration}/chats/c/messages`);
      return body.items.map(({ content }: { content: string }) => content).reverse();
    };
    await chat.sendMessage({ text: 'A' });
    await chat.sendMessage({ text: 'B' });
    await chat.regenerate();
    assert.equal(chat.error, undefined);
    assert.deepEqual(chat.parts, ['text done: Two again.']);
    assert.deepEqual(prompt(2), ['A', 'One.', 'B']);
    assert.deepEqual(await stored(), ['A', 'One.', 'B', 'Two again.']);
    // An edit has the old message's id.
    const [, , second] = chat.messages;
    await chat.sendMessage({ text: 'B2', messageId: second?.id ?? '' });
    assert.equal(chat.error, undefined);
    assert.deepEqual(prompt(3), ['A', 'One.', 'B2']);
    const [first] = chat.messages;
    await chat.sendMessage({ text: 'A2', messageId: first?.id ?? '' });
    assert.deepEqual(prompt(4), ['A2']);
    await chat.sendMessage({ text: 'C' });
    assert.deepEqual(await stored(), ['A2', 'First.', 'C', 'Last.']);
    const chats = (await rig.api.get(`/v2/integrations/${integration}/chats`)).body.items;
    assert.deepEqual(
      chats.map(({ chatId }: { chatId: string }) => chatId),
      ['c'],
    );
    const ids: string[] = (await rig.api.get(`/v2/integrations/${integration}/usage`)).body.items.map(
      (one: { usageRequestId: string }) => one.usageRequestId,
    );
    const edited = new RegExp(`^ui:c:${second?.id}:[0-9a-f]{16}$`);
    assert.deepEqual([ids.length, ids.filter((id) => edited.test(id)).length], [6, 1]);
    // A chat cannot continue after a message that this server did not make.
    const user = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] };
    const foreign = { id: `msg_${'0'.repeat(26)}`, role: 'assistant', parts: [] };
    const wrong = await post('', { id: 'c', trigger: 'regenerate-message', messages: [foreign, user] });
    assert.deepEqual([wrong.status, ((await wrong.json()) as { code: string }).code], [404, 'run_not_found']);
  });

  test('regenerate during an answer cancels it, also after an answered question', async (t) => {
    cites(t, 'compatible-20-ui-forks', 'compatible-20-ui-busy');
    const made = play(rig, {
      Lead: [calls(['c1', 'position', {}]), say('Home.'), (call) => call.text('Never en'), say('Next.'), say('Short.')],
    });
    const before = made.length;
    const chat = open({
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall: ({ toolCall: { toolName, toolCallId } }) =>
        void chat.addToolOutput({ tool: toolName, toolCallId, output: 'home' }),
    });
    await chat.sendMessage({ text: 'Where?' });
    const sent = chat.sendMessage({ text: 'And?' });
    await until(() => chat.parts.includes('text streaming: Never en'));
    await chat.stop();
    await sent;
    await chat.regenerate();
    assert.equal(chat.error, undefined);
    assert.deepEqual(chat.parts, ['text done: Next.']);
    // The chat continues after the newest run of the message that two runs made.
    assert.deepEqual(
      made[before + 3]?.request.prompt.map((item) => ('text' in item ? item.text : item.kind)),
      ['Where?', 'tool_call', 'tool_output', 'Home.', 'And?'],
    );
    const statuses = (await runs()).map(({ status }: { status: string }) => status);
    assert.deepEqual(statuses.toSorted(), ['cancelled', 'completed', 'completed', 'completed']);
  });

  test('files of the user are attachments', async (t) => {
    cites(t, 'compatible-20-ui-attachments');
    const made = play(rig, { Lead: [say('A dot.')] });
    const before = made.length;
    const url =
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const chat = open();
    await chat.sendMessage({ text: 'What is it?', files: [{ type: 'file', mediaType: 'image/png', url }] });
    assert.equal(chat.error, undefined);
    assert.deepEqual(chat.parts, ['text done: A dot.']);
    const [item] = made[before]?.request.prompt ?? [];
    assert.ok(item?.kind === 'user' && item.attachments?.length === 1, JSON.stringify(item));
    const wrong = open({ id: 'd' });
    await wrong.sendMessage({ text: 'And?', files: [{ type: 'file', mediaType: 'image/png', url: 'data:,no' }] });
    assert.match(wrong.error?.message ?? '', /`messages\[0\]\.parts\[0\]\.url` must be base64/);
  });

  test('a file that the run made is shown with its address', async (t) => {
    cites(t, 'compatible-20-ui-files');
    const missing = await missingBubblewrap();
    if (missing !== null) return t.skip(missing);
    const work = defineAgency({ name: 'Work', agents: [agent('Writer', { sandbox: true, files: true })] });
    await using own = await ScriptedServer.start({ store, agencies: { work }, env: { RUNWIRE_SANDBOX: 'auto' } });
    const path = '/app/mnt/notes/a b.txt';
    play(own, { Writer: [calls(['c1', 'write_file', { path, content: 'Hi' }]), say('Written.')] });
    const apiIntegrationId = await own.integration({ agency: 'work', fileAccess: 'all' });
    const chat = open({ api: `${own.server.url}/v2/integrations/${apiIntegrationId}/ai-sdk/chat` });
    await chat.sendMessage({ text: 'Write.' });
    assert.equal(chat.error, undefined);
    const file = chat.lastMessage?.parts.find(({ type }) => type === 'file');
    assert.ok(file?.type === 'file', chat.parts.join('\n'));
    const about = { path, name: 'a b.txt', size: 2, change: 'created' };
    assert.deepEqual([file.mediaType, file.providerMetadata], ['text/plain', { runwire: about }]);
    const answer = await fetch(file.url, { headers: { authorization: `Bearer ${TEST_API_KEY}` } });
    assert.deepEqual([answer.status, await answer.text()], [200, 'Hi']);
  });

  test('a body that useChat would not send is refused by its field', async (t) => {
    cites(t, 'compatible-20-ui-invalid', 'compatible-20-ui-member');
    const user = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] };
    const good = { id: 'c', messages: [user] };
    const wrong: readonly (readonly [object, RegExp])[] = [
      [{ messages: [user] }, /^`id` is missing/],
      [{ ...good, messages: [] }, /^`messages` must have a message/],
      [{ ...good, messages: [{ ...user, role: 'tool' }] }, /^`messages\[0\]\.role` must be/],
      [{ ...good, trigger: 'resume-stream' }, /^`trigger` must be/],
      [
        { ...good, messages: [{ ...user, parts: [{ type: 'text' }] }] },
        /^`messages\[0\]\.parts\[0\]\.text` is missing/,
      ],
      [{ ...good, clientTools: [{ name: 'a b' }] }, /^`clientTools\[0\]\.name` must have/],
      [{ ...good, agent: 'Nobody' }, /^`agent` is not an entry point/],
      [{ ...good, id: 'a\u0000' }, /^`id` must have 1–256 characters/],
      [{ ...good, messages: [{ ...user, id: 'x'.repeat(257) }] }, /^`messages\[0\]\.id` must have 1–256/],
      [{ ...good, user_context: 'x'.repeat(300_000) }, /^`user_context` must be at most/],
    ];
    for (const [body, sentence] of wrong) {
      const answer = await post('', body);
      const { error } = (await answer.json()) as { error: string };
      assert.match(error, sentence);
      assert.deepEqual([answer.status, answer.headers.get('x-agent-run-admitted')], [400, 'false'], error);
    }
    assert.equal((await post('?whenBusy=never', good)).status, 400);
    assert.equal((await runs()).length, 0);
  });
}

async function until(isTrue: () => boolean): Promise<void> {
  const limit = performance.now() + 20_000;
  while (!isTrue()) {
    if (performance.now() > limit) throw new Error('It did not become true.');
    await new Promise((next) => setTimeout(next, 10));
  }
}

/** Waits until the chat has finished so many answers. */
async function idle(chat: UiChat, answers: number): Promise<void> {
  while (chat.finished.length < answers && chat.error === undefined) await new Promise((next) => setTimeout(next, 10));
}
