import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { STORES, type StoreName } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore, storedState } from './support/ask-store.ts';
import { AttachmentRig, attachmentsShown, fileAt } from './support/attachment-rig.ts';
import { listSamples } from './support/doc-samples.ts';
import { eventually } from './support/eventually.ts';
import { KillableServer } from './support/killable-server.ts';
import { refusal, ScriptedServer } from './support/scripted-server.ts';

const CALL = { callId: 'call_1', tool: 'lookup', arguments: { id: 7 } };
const HISTORY = [
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content: 'Hello', agent: 'Concierge' },
  { role: 'user', content: 'What time is it?' },
  { role: 'assistant', content: 'Let me see.' },
  { role: 'assistant', calls: [CALL, { ...CALL, callId: 'call_2' }] },
  { role: 'tool', callId: 'call_1', output: '12:00', failed: false },
  { role: 'tool', callId: 'call_9', output: 'no call waits for this' },
  { role: 'assistant', content: 'Noon.' },
];
const UNKNOWN = 'The run ended before the outcome of this call was known; it may or may not have taken effect.';
const PROMPT = [
  { kind: 'user', text: 'Hi' },
  { kind: 'assistant', text: 'Hello' },
  { kind: 'user', text: 'What time is it?' },
  { kind: 'assistant', text: 'Let me see.' },
  { kind: 'tool_call', callId: 'call_1', name: 'lookup', arguments: '{"id":7}' },
  { kind: 'tool_call', callId: 'call_2', name: 'lookup', arguments: '{"id":7}' },
  { kind: 'tool_output', callId: 'call_1', output: '12:00' },
  { kind: 'tool_output', callId: 'call_2', output: UNKNOWN },
  { kind: 'assistant', text: 'Noon.' },
];

const refused = async (reader: Promise<Parameters<typeof refusal>[0]>) => {
  const { status, body } = await refusal(await reader);
  return { status, code: body.code, error: body.error };
};

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store });

  test('a new chat begins with the turns of the request', async (t) => {
    cites(t, 'compatible-19-history', 'compatible-19-history-turns', 'compatible-19-history-prompt');
    const apiIntegrationId = await rig.integration({ agency: 'test' });
    const first = await rig.answer({ apiIntegrationId, chatId: 'c', message: 'And now?', history: HISTORY });
    assert.deepEqual(first.call.request.prompt, [...PROMPT, { kind: 'user', text: 'And now?' }]);
    const second = await rig.answer({ apiIntegrationId, chatId: 'c', message: 'Thanks' });
    const before = JSON.stringify(first.call.request.prompt).slice(0, -1);
    assert.ok(JSON.stringify(second.call.request.prompt).startsWith(`${before},`), 'byte for byte');

    const chat = `/v2/integrations/${apiIntegrationId}/chats/c`;
    assert.equal((await rig.api.get(chat)).body.numMessages, 8);
    const messages = (await rig.api.get(`${chat}/messages`)).body.items.toReversed();
    assert.deepEqual(
      messages.slice(0, 4).map((one: Record<string, unknown>) => [one.role, one.content, one.runId, one.status]),
      [
        ['user', 'Hi', null, 'imported'],
        ['assistant', 'Hello', null, 'imported'],
        ['user', 'What time is it?', null, 'imported'],
        ['assistant', 'Let me see.Noon.', null, 'imported'],
      ],
    );
    assert.equal(messages[1].agent, 'Concierge');
    assert.equal((await rig.api.get(`/v2/integrations/${apiIntegrationId}/usage`)).body.items.length, 2);
  });

  test('the sample of docs/imported-history.md is accepted as written', async () => {
    const [sample = ''] = listSamples('docs/imported-history.md', 'json');
    await rig.integration({ apiIntegrationId: 'shop', agency: 'test' });
    const { call } = await rig.answer(JSON.parse(sample));
    assert.equal(call.request.prompt.length, 7);
  });

  test('items before the first text of the user are a turn, and empty texts are not sent', async (t) => {
    cites(t, 'compatible-19-history-empty');
    const apiIntegrationId = await rig.integration({ agency: 'test' });
    const history = [
      { role: 'assistant', content: 'Welcome!' },
      { role: 'user', content: '' },
      { role: 'assistant', content: ' ' },
      { role: 'user', content: 'Look it up.' },
      { role: 'assistant', calls: [CALL] },
      { role: 'tool', callId: 'call_1', output: '7 is red.' },
    ];
    const first = await rig.answer({ apiIntegrationId, chatId: 'c', message: '', history });
    const shown = first.call.request.prompt;
    assert.deepEqual(
      shown.map((item) => ('text' in item ? item.text : item.kind)),
      ['Welcome!', 'Look it up.', 'tool_call', 'tool_output'],
    );
    const second = await rig.answer({ apiIntegrationId, chatId: 'c', message: 'And 8?' });
    const before = JSON.stringify(shown).slice(0, -1);
    assert.ok(JSON.stringify(second.call.request.prompt).startsWith(`${before},`), 'byte for byte');
  });

  test('a chat can be created with history, without a run', async (t) => {
    cites(t, 'compatible-19-history-create');
    const apiIntegrationId = await rig.integration({ agency: 'test' });
    const path = `/v2/integrations/${apiIntegrationId}/chats`;
    const image =
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';
    const attachments = [{ type: 'input_image', image_url: image }];
    const history = [{ ...HISTORY[0], attachments }, ...HISTORY.slice(1)];
    const made = await rig.api.post(path, { chatId: 'c', history });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.equal(made.body.numMessages, 4);
    const status = await rig.api.get(`/v2/chat_status?apiIntegrationId=${apiIntegrationId}&chatId=c`);
    assert.equal(status.body.run ?? null, null);
    const messages = (await rig.api.get(`${path}/c/messages`)).body.items.toReversed();
    assert.match(messages[0].attachments[0].image_url, /^data:image\/png;sha256=/);
    const { call } = await rig.answer({ apiIntegrationId, chatId: 'c', message: 'Next' });
    assert.deepEqual(
      attachmentsShown(call).map((turn) => turn.length),
      [1, 0, 0],
    );
    assert.equal(call.request.prompt.length, PROMPT.length + 1);
  });

  test('refuses history for a chat that exists, and items that are wrong', async (t) => {
    cites(t, 'compatible-19-history-new', 'compatible-19-400-chat-not-empty', 'compatible-19-history-limits');
    const apiIntegrationId = await rig.integration({ agency: 'test' });
    await rig.answer({ apiIntegrationId, chatId: 'c', message: 'One' });
    const send = (body: object) => refused(rig.api.complete({ apiIntegrationId, message: 'Hi', ...body }));
    const code = async (body: object) => (await send(body)).code;
    assert.equal(await code({ chatId: 'c', history: HISTORY }), 'chat_not_empty');
    const wrong = [
      [{ role: 'system', content: 'No' }],
      [{ role: 'user' }],
      [{ role: 'assistant' }],
      [{ role: 'assistant', calls: [] }],
      [{ role: 'tool', callId: 'call_1' }],
      [{ role: 'user', content: 'Hi', other: 1 }],
      [{ role: 'assistant', content: 'Hi', attachments: [] }],
      Array.from({ length: 1001 }, () => ({ role: 'user', content: 'Hi' })),
      Array.from({ length: 21 }, (_, n) => ({
        role: 'user',
        content: '',
        attachments: [fileAt(`https://a.example/${n}.txt`)],
      })),
    ];
    for (const history of wrong) assert.equal(await code({ history }), 'invalid_request', JSON.stringify(history[0]));
    const { error } = await send({ history: wrong[0] });
    assert.equal(error, '`history[0].role` must be one of "user", "assistant", "tool".');
    const many = Array.from({ length: 1000 }, (_, n) => ({
      role: n % 2 === 0 ? 'user' : 'assistant',
      content: `${n}`,
    }));
    const { call } = await rig.answer({ apiIntegrationId, chatId: 'many', message: 'Hi', history: many });
    assert.equal(call.request.prompt.length, 1001);
  });

  test('instructions follow those of the root agent, for one run', async (t) => {
    cites(t, 'compatible-19-instructions', 'compatible-19-instructions-allowed', 'compatible-19-token');
    const apiIntegrationId = await rig.integration({ agency: 'test' });
    const body = { apiIntegrationId, chatId: 'c', message: 'Hi', instructions: 'Speak French.' };
    assert.equal((await refused(rig.api.complete(body))).code, 'invalid_request');
    await rig.api.patch(`/v2/integrations/${apiIntegrationId}`, { callerInstructions: true });
    const long = { ...body, instructions: 'é'.repeat(16 * 1024 + 1) };
    assert.equal((await refused(rig.api.complete(long))).code, 'invalid_request');
    const first = await rig.answer(body);
    assert.match(first.call.request.instructions, /.+\n\nSpeak French\.$/s);
    const second = await rig.answer({ ...body, instructions: undefined });
    assert.doesNotMatch(second.call.request.instructions, /French/);
    await rig.member(apiIntegrationId, 'ann');
    const token = (await rig.api.post(`/v2/integrations/${apiIntegrationId}/client_tokens`, { consumerId: 'ann' }))
      .body;
    const page = rig.api.as(token.clientToken);
    for (const fields of [{ instructions: 'Hi' }, { history: HISTORY }]) {
      const answer = await refused(page.complete({ message: 'Hi', ...fields }));
      assert.deepEqual([answer.status, answer.code], [403, 'token_forbidden']);
    }
  });

  test('attachments of imported turns are fetched by the first run', async (t) => {
    cites(t, 'compatible-19-history-attachments');
    await using files = await AttachmentRig.start({ store });
    const attachments = [fileAt(files.files.serve('/notes.txt', 'Milk.', 'text/plain'))];
    const history = [
      { role: 'user', content: 'Look', attachments },
      { role: 'assistant', content: 'I see.' },
    ];
    const made = await files.api.post('/v2/integrations/demo/chats', { chatId: 'c', history });
    assert.equal(made.status, 201);
    assert.equal(files.files.requests.length, 0);
    const first = await files.rig.answer({ chatId: 'c', message: 'And?' });
    assert.deepEqual(
      attachmentsShown(first.call).map((turn) => turn.map(({ name }) => name)),
      [['notes.txt'], []],
    );
    const second = await files.rig.answer({ chatId: 'c', message: 'So?' });
    assert.equal(files.files.requests.length, 1);
    const before = JSON.stringify(first.call.request.prompt).slice(0, -1);
    assert.ok(JSON.stringify(second.call.request.prompt).startsWith(`${before},`), 'byte for byte');
  });

  test('files in a body of a compatible API are stored and read like attachments', async (t) => {
    cites(t, 'compatible-19-inline-files');
    await using own = await ScriptedServer.start({ store });
    const apiIntegrationId = await own.integration({ agency: 'test', keepAttachments: false });
    const pdf = readFileSync(new URL('../packages/documents/src/fixtures/libreoffice.pdf', import.meta.url));
    const parts = (name: string, type: string, bytes: Uint8Array) => ({
      type: 'file',
      file: { filename: name, file_data: `data:${type};base64,${Buffer.from(bytes).toString('base64')}` },
    });
    const send = async (chat: string, content: readonly object[]) => {
      const path = `/v2/integrations/${apiIntegrationId}/openai/v1/chat/completions`;
      const headers = { 'x-runwire-chat-id': chat };
      const answer = own.api.call('POST', path, { messages: [{ role: 'user', content }] }, headers);
      return { answer, call: await own.controller.nextCall() };
    };
    const content = [
      { type: 'text', text: 'Look' },
      parts('notes.csv', 'text/csv', Buffer.from('a;b\n1;2')),
      parts('report.pdf', 'application/pdf', pdf),
    ];
    const first = await send('c', content);
    await first.call.text('Seen.');
    await first.call.end();
    assert.equal((await first.answer).status, 200);
    const shown = attachmentsShown(first.call).map((turn) => turn.map(({ kind, name }) => `${kind} ${name}`));
    assert.equal(shown.length, 1);
    assert.deepEqual(
      shown[0]?.map((one) => one.split(' ')[1]),
      ['notes.csv', 'report.pdf'],
    );
    const second = await own.answer({ apiIntegrationId, chatId: 'c', message: 'And?' });
    const before = JSON.stringify(first.call.request.prompt).slice(0, -1);
    assert.ok(JSON.stringify(second.call.request.prompt).startsWith(`${before},`), 'byte for byte');
    const items = (await own.api.get(`/v2/integrations/${apiIntegrationId}/chats/c/messages`)).body.items;
    assert.match(items.at(-1).attachments[0].file_url, /^data:text\/[a-z]+;sha256=[0-9a-f]{64};bytes=\d+,$/);
    const wrong = await own.api.post(`/v2/integrations/${apiIntegrationId}/openai/v1/chat/completions`, {
      messages: [{ role: 'user', content: [{ type: 'file', file: { filename: 'a.txt', file_data: 'no base64!' } }] }],
    });
    assert.equal(wrong.status, 400);
  });

  test('an unknown member is registered with its first run, if the integration wants it', async (t) => {
    cites(t, 'compatible-19-auto-register');
    await using own = await ScriptedServer.start({ store });
    const apiIntegrationId = await own.integration({ agency: 'test' });
    const below = `/v2/integrations/${apiIntegrationId}`;
    const send = (user: string) =>
      own.api.post(`${below}/openai/v1/chat/completions`, { user, messages: [{ role: 'user', content: 'Hi' }] });
    assert.equal((await send('bob')).status, 404);
    await own.api.patch(below, { autoRegister: true });
    assert.equal((await own.api.complete({ apiIntegrationId, consumerId: 'bob', message: 'Hi' })).status, 404);
    const runs = [send('bob'), send('bob')];
    for (const _ of runs) {
      const call = await own.controller.nextCall();
      await call.text('Hello.');
      await call.end();
    }
    for (const run of runs) assert.equal((await run).status, 200);
    const { active, metadata } = (await own.api.get(`${below}/members/bob`)).body;
    assert.deepEqual([active, metadata], [true, {}]);
  });

  test('a transient chat is not listed and is deleted some days after its last run', async (t) => {
    cites(t, 'compatible-19-transient');
    // The sweep of a server that keeps events for 0 days deletes it; that of the other one does not.
    await using own = await ScriptedServer.start({ store, limits: { logMs: 0, sweepMs: 3_600_000 } });
    const apiIntegrationId = await own.integration({ agency: 'test' });
    const below = `/v2/integrations/${apiIntegrationId}`;
    const body = { messages: [{ role: 'user', content: 'Hi' }] };
    const begin = async () => {
      const answer = own.api.post(`${below}/openai/v1/chat/completions`, body);
      return { answer, call: await own.controller.nextCall() };
    };
    const end = async ({ answer, call }: Awaited<ReturnType<typeof begin>>) => {
      await call.text('Hello.');
      await call.end();
      return String((await answer).headers.get('x-chat-id'));
    };
    const ended = await end(await begin());
    const active = await begin();
    await own.answer({ apiIntegrationId, chatId: 'listed', message: 'Hi' });
    const chat = (id: string) => own.api.get(`${below}/chats/${id}`);
    assert.equal((await chat(ended)).body.transient, true);
    assert.equal((await chat('listed')).body.transient, false);
    const listed = (await own.api.get(`${below}/chats`)).body.items;
    assert.deepEqual(
      listed.map(({ chatId }: { chatId: string }) => chatId),
      ['listed'],
    );
    assert.equal(await own.server.server.probes.sweepTransients(), 1);
    assert.equal((await chat(ended)).status, 404);
    const second = await end(active);
    assert.equal((await chat(second)).status, 200, 'its run was active');
    await eventually('the other one is deleted', async () => (await own.server.server.probes.sweepTransients()) === 1);
    assert.deepEqual([(await chat(second)).status, (await chat('listed')).status], [404, 200]);
    assert.equal((await own.api.get(`${below}/usage`)).body.items.length, 3);
    assert.deepEqual(await askStore(own.server.dataDir, 'select chat_key from transient_chats'), []);
  });

  test('a transient chat stays as long as its last run is not old enough', async (t) => {
    cites(t, 'compatible-19-transient');
    await using own = await ScriptedServer.start({ store, limits: { sweepMs: 3_600_000 } });
    const apiIntegrationId = await own.integration({ agency: 'test' });
    const below = `/v2/integrations/${apiIntegrationId}`;
    const answer = own.api.post(`${below}/openai/v1/chat/completions`, { messages: [{ role: 'user', content: 'Hi' }] });
    const call = await own.controller.nextCall();
    await call.text('Hello.');
    await call.end();
    const id = (await answer).headers.get('x-chat-id');
    assert.equal(await own.server.server.probes.sweepTransients(), 0);
    assert.equal((await own.api.get(`${below}/chats/${id}`)).status, 200);
    const marks = () => askStore(own.server.dataDir, 'select chat_key from transient_chats');
    assert.equal((await marks()).length, 1);
    assert.equal((await own.api.delete(`${below}/chats/${id}`)).status, 204);
    assert.deepEqual(await marks(), [], 'its mark is deleted with a chat');
  });

  test('a run that is taken over has its instructions and its history', async (t) => {
    cites(t, 'compatible-19-takeover');
    await using server = await KillableServer.start({ store });
    await server.metered();
    await server.api.patch('/v2/integrations/mine', { callerInstructions: true });
    const body = { apiIntegrationId: 'mine', consumerId: 'ann', chatId: 'c1', usageRequestId: 'u1' };
    const request = { ...body, message: 'Go on', history: HISTORY, instructions: 'Speak French.' };
    const { call, reader } = await server.hold(request);
    await call.text('Void');
    await reader.untilText('"Void"');
    await server.process.kill();
    await reader.over;
    await server.startAgain();
    const again = await server.controller.nextCall();
    assert.deepEqual(again.request.prompt, call.request.prompt);
    assert.equal(again.request.instructions, call.request.instructions);
    assert.match(again.request.instructions, /Speak French\.$/);
    await again.text('Bien.');
    await again.end();
    const replay = await server.api.complete(request);
    await replay.whole();
    assert.equal(replay.headers['x-run-replayed'], 'true');
  });

  test('a deleted chat and an erased member leave nothing of what a request brought', async (t) => {
    cites(t, 'compatible-19-deleted');
    const secret = 'Walrus';
    const history = [
      { role: 'user', content: secret },
      { role: 'assistant', calls: [{ callId: 'call_1', tool: secret, arguments: { secret } }] },
      { role: 'tool', callId: 'call_1', output: secret },
    ];
    await using own = await ScriptedServer.start({ store, limits: { eraseRewriteMs: 0 } });
    const apiIntegrationId = await own.integration({ agency: 'test', callerInstructions: true });
    const rows = async () => [...(await storedState(own.server.dataDir))].filter((row) => row.includes(secret)).length;
    await own.answer({ apiIntegrationId, chatId: 'c', message: 'Hi', history, instructions: secret });
    assert.ok((await rows()) >= 3);
    await own.api.delete(`/v2/integrations/${apiIntegrationId}/chats/c`);
    assert.equal(await rows(), 0);

    await own.member(apiIntegrationId, 'ann');
    const body = { apiIntegrationId, consumerId: 'ann', message: 'Hi', history, instructions: secret };
    await own.answer({ ...body, chatId: 'd' });
    await own.api.post(`/v2/integrations/${apiIntegrationId}/chats`, { chatId: 'e', consumerId: 'ann', history });
    const member = `/v2/integrations/${apiIntegrationId}/members/ann`;
    await own.api.delete(`${member}?erase=true`);
    await eventually(
      'the member is erased',
      async () => (await own.api.get(`${member}/erasure`)).body.status === 'erased',
    );
    assert.equal(await rows(), 0);
  });
}
