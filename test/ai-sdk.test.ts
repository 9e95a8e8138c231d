import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { STORES, type StoreName } from '@runwire/test-kit';
import {
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai';
import { cites } from '../requirements/cite.ts';
import { until } from './support/eventually.ts';
import { ask, calls, play, say } from './support/play.ts';
import { idle, refunds, shareUiShop } from './support/ui-shop.ts';

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const { rig, at, open, runs, post } = shareUiShop(store);

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

  test('a request that continued a message gets the same answer when it is sent again after the end', async (t) => {
    cites(t, 'compatible-20-ui-once', 'compatible-20-ui-answers');
    play(rig, { Lead: [calls(['c1', 'refund', { cents: 50 }], ['c2', 'refund', { cents: 70 }]), say('Paid.')] });
    const chat = open();
    await chat.sendMessage({ text: 'Go' });
    for (const part of chat.lastMessage?.parts ?? [])
      if ('approval' in part) {
        const approved = (part.input as { cents: number }).cents === 50;
        await chat.addToolApprovalResponse({ id: part.approval?.id ?? '', approved });
      }
    const send = async () => (await post('', { id: 'c', messages: chat.messages })).text();
    const first = await send();
    assert.match(first, /refunded 50[\s\S]*Paid\./);
    assert.equal(await send(), first);
    assert.deepEqual([refunds, (await runs()).length], [[50], 2]);
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
    const refused = open({ api: `${at.api}?whenBusy=refuse` });
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
    await rig.member(at.integration, 'ann');
    const mint = async (can: readonly string[]) => {
      const { body } = await rig.api.post(`/v2/integrations/${at.integration}/client_tokens`, {
        consumerId: 'ann',
        can,
      });
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
    await rig.api.post(`/v2/integrations/${at.integration}/chats`, { chatId: 'other' });
    const foreign = await fetch(`${at.api}/other/stream`, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(foreign.status, 204);
  });

  test('a page of another origin may send the request and read the answer', async (t) => {
    cites(t, 'compatible-20-ui-stream');
    const preflight = await fetch(at.api, {
      method: 'OPTIONS',
      headers: { origin: 'https://page.example', 'access-control-request-method': 'POST' },
    });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers.get('access-control-allow-headers'), 'Authorization, *');
  });
}
