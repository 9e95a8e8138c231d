import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { STORES, type StoreName } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { pickColumn, toRows } from './support/columns.ts';
import { ISO_TIME, refusal, ScriptedServer } from './support/scripted-server.ts';

const getChat = ({ reader }: { reader: { headers: Record<string, unknown> } }) =>
  decodeURIComponent(String(reader.headers['x-chat-id']));

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store });

  test('starts a chat with a new id, a given id or a given alias, and finds it', async (t) => {
    cites(t, 'contract-4-chat-new', 'contract-4-chat-unknown-id', 'contract-4-chat-unknown-alias');
    const integration = await rig.integration();
    const below = `/v2/integrations/${integration}`;
    const of = (body: object) => ({ apiIntegrationId: integration, ...body });
    const fresh = getChat(await rig.answer(of({})));
    assert.notEqual(getChat(await rig.answer(of({ chatId: null, aliasChatId: null }))), fresh);
    assert.equal(getChat(await rig.answer(of({ chatId: 'mine' }))), 'mine');
    const aliased = getChat(await rig.answer(of({ aliasChatId: 'a1' })));
    assert.equal((await rig.api.get(`${below}/chats/${aliased}`)).body.aliasChatId, 'a1');
    assert.equal(getChat(await rig.answer(of({ aliasChatId: 'a1' }))), aliased);
    assert.equal(getChat(await rig.answer(of({ chatId: fresh }))), fresh);
    const both = await rig.answer(of({ chatId: 'c2', aliasChatId: 'a2' }));
    assert.deepEqual(JSON.parse(both.reader.frames[0]?.data ?? '').aliasChatId, 'a2');
    assert.equal(getChat(await rig.answer(of({ aliasChatId: 'a2' }))), 'c2');
    assert.equal((await rig.api.get(`${below}/chats`)).body.items.length, 5);

    const created = (await rig.api.post(`${below}/chats`, {})).body.chatId;
    assert.equal(getChat(await rig.answer(of({ chatId: created }))), created);
    assert.equal((await rig.api.get(`${below}/runs?chatId=${created}`)).body.items.length, 1);
    // An id that the server chose for one chat is free in another integration, and after its chat is deleted.
    const other = await rig.integration();
    const namesake = async () => {
      assert.equal(getChat(await rig.answer({ apiIntegrationId: other, chatId: fresh })), fresh);
      return (await rig.api.get(`/v2/integrations/${other}/chats/${fresh}`)).body.numMessages;
    };
    assert.deepEqual([await namesake(), await namesake()], [2, 4]);
    await rig.api.delete(`${below}/chats/${fresh}`);
    assert.equal((await rig.api.get(`${below}/chats/${fresh}`)).status, 404);
    assert.equal(await namesake(), 6);
    assert.equal(getChat(await rig.answer(of({ chatId: fresh }))), fresh);
    const again = (await rig.api.get(`${below}/chats/${fresh}`)).body;
    assert.equal(again.numMessages, 2);
    assert.equal((await rig.api.post(`${below}/chats`, { chatId: fresh })).body.code, 'chat_exists');
  });

  test('binds an alias once and refuses an alias that names another chat', async (t) => {
    cites(t, 'contract-4-alias-unique', 'contract-4-chat-bind-alias', 'contract-4-chat-alias-conflict');
    const integration = await rig.integration();
    const of = (body: object) => ({ apiIntegrationId: integration, ...body });
    await rig.answer(of({ chatId: 'c1' }));
    const bound = await rig.answer(of({ chatId: 'c1', aliasChatId: 'a1' }));
    assert.equal(JSON.parse(bound.reader.frames[0]?.data ?? '').aliasChatId, 'a1');
    assert.equal(getChat(await rig.answer(of({ aliasChatId: 'a1' }))), 'c1');
    assert.equal(getChat(await rig.answer(of({ chatId: 'c1', aliasChatId: 'a1' }))), 'c1');
    await rig.answer(of({ chatId: 'c2', aliasChatId: 'a2' }));
    for (const [why, address] of Object.entries({
      'known chat with another alias, unknown alias': { chatId: 'c1', aliasChatId: 'a9' },
      'unknown chat, known alias': { chatId: 'c9', aliasChatId: 'a1' },
      'both known and different': { chatId: 'c1', aliasChatId: 'a2' },
    })) {
      const { status, body } = await refusal(await rig.api.complete(of(address)));
      assert.deepEqual([status, body.code], [400, 'invalid_request'], why);
    }
    const chats = (await rig.api.get(`/v2/integrations/${integration}/chats`)).body.items;
    assert.deepEqual(toRows(chats, 'chatId', 'aliasChatId'), [
      ['c2', 'a2'],
      ['c1', 'a1'],
    ]);
    // Names are unique within an integration. Another integration may use the same names.
    const elsewhere = await rig.integration();
    const other = await rig.answer({ apiIntegrationId: elsewhere, aliasChatId: 'a1' });
    assert.notEqual(getChat(other), 'c1');
  });

  test('shows a chat only to the consumer that started it', async (t) => {
    cites(t, 'contract-4-chat-consumer', 'contract-8-404-chat-not-found');
    const integration = await rig.integration();
    for (const member of ['ann', 'ben']) await rig.member(integration, member);
    const of = (body: object) => ({ apiIntegrationId: integration, ...body });
    await rig.answer(of({ consumerId: 'ann', chatId: 'anns', aliasChatId: 'anns-alias' }));
    await rig.answer(of({ chatId: 'nobodys' }));
    for (const body of [
      { consumerId: 'ben', chatId: 'anns' },
      { consumerId: 'ben', aliasChatId: 'anns-alias' },
      { chatId: 'anns' },
      { consumerId: 'ann', chatId: 'nobodys' },
    ]) {
      const { status, body: said } = await refusal(await rig.api.complete(of(body)));
      assert.deepEqual([status, said.code], [404, 'chat_not_found'], JSON.stringify(body));
    }
    await rig.answer(of({ consumerId: 'ann', chatId: 'anns' }));
    await rig.answer(of({ chatId: 'nobodys' }));
  });

  test('keeps the history, failed responses included, for the next turn', async (t) => {
    cites(
      t,
      'spec-1-history',
      'spec-1-failed-stays',
      'spec-1-other-messages',
      'spec-3-failed-stays',
      'spec-7-rule-4',
      'contract-6-message-status',
      'contract-9-message',
      'contract-9-message-roles',
      'contract-9-newest-first',
    );
    const integration = await rig.integration();
    const turn = (message: string) => rig.hold({ apiIntegrationId: integration, chatId: 'c1', message });
    const history = async () => (await rig.api.get(`/v2/integrations/${integration}/chats/c1/messages`)).body.items;

    const first = await turn('One?');
    const [asked, ...none] = await history();
    assert.deepEqual([asked.role, asked.content, asked.status, none], ['user', 'One?', 'completed', []]);
    await first.finish('One.');
    const failed = await turn('Two?');
    await failed.call.text('Tw');
    await failed.call.fail('model_error', 'No.');
    await failed.reader.whole();
    const mute = await turn('Three?');
    await mute.call.fail('model_error', 'No.');
    await mute.reader.whole();
    const stopped = await turn('Four?');
    await stopped.call.toolCall('call_1', 'absent', '{}');
    await stopped.call.end();
    const second = await rig.controller.nextCall();
    await second.text('Fo');
    await stopped.reader.untilText('"Fo"');
    await rig.api.post(`/v2/integrations/${integration}/runs/${stopped.runId}/cancel`);
    await stopped.reader.whole();

    const said = (await history()).map((message: Record<string, unknown>) => [
      message.role,
      message.status,
      message.content,
    ]);
    assert.deepEqual(said, [
      ['assistant', 'cancelled', 'Fo'],
      ['user', 'completed', 'Four?'],
      ['assistant', 'failed', ''],
      ['user', 'completed', 'Three?'],
      ['assistant', 'failed', 'Tw'],
      ['user', 'completed', 'Two?'],
      ['assistant', 'completed', 'One.'],
      ['user', 'completed', 'One?'],
    ]);
    const { messageId, createdAt, ...answer } = (await history())[4];
    assert.match(messageId, /^msg_/);
    assert.match(createdAt, ISO_TIME);
    assert.deepEqual(answer, {
      chatId: 'c1',
      runId: failed.runId,
      role: 'assistant',
      status: 'failed',
      agent: 'Concierge',
      content: 'Tw',
      attachments: [],
      sandboxFiles: [],
      calls: [],
      answers: [],
      error: { code: 'model_error', message: 'No.' },
    });

    const next = await turn('Five?');
    assert.deepEqual(next.call.request.prompt, [
      { kind: 'user', text: 'One?' },
      { kind: 'assistant', text: 'One.' },
      { kind: 'user', text: 'Two?' },
      { kind: 'assistant', text: 'Tw' },
      { kind: 'user', text: 'Three?' },
      { kind: 'user', text: 'Four?' },
      { kind: 'tool_call', callId: 'call_1', name: 'absent', arguments: '{}' },
      { kind: 'tool_output', callId: 'call_1', output: 'There is no tool `absent`.' },
      { kind: 'assistant', text: 'Fo' },
      { kind: 'user', text: 'Five?' },
    ]);
    await next.finish();
    const other = await rig.hold({ apiIntegrationId: integration, chatId: 'c2', message: 'Alone?' });
    assert.deepEqual(other.call.request.prompt, [{ kind: 'user', text: 'Alone?' }]);
    await other.finish();
  });

  test('starts the next turn at the agent it names, or at the default', async (t) => {
    cites(t, 'contract-6-next-turn-agent', 'spec-2.1-agent');
    const integration = await rig.integration({ agency: 'test', defaultAgent: 'Writer' });
    const turn = async (agent?: string) => {
      const body = { apiIntegrationId: integration, chatId: 'c1', agent };
      const { reader, call } = await rig.answer(body);
      return [JSON.parse(reader.frames[0]?.data ?? '').agent, call.request.instructions];
    };
    assert.deepEqual(await turn(), ['Writer', 'Write well.']);
    assert.deepEqual(await turn('Clerk'), ['Clerk', 'Use your tools.']);
    assert.deepEqual(await turn(), ['Writer', 'Write well.']);
  });

  test('creates, reads, lists and deletes chats', async (t) => {
    cites(
      t,
      'contract-3-chats',
      'contract-9-chat',
      'contract-9-newest-first',
      'contract-8-409-chat-exists',
      'contract-8-409-alias-taken',
      'contract-8-404-chat-not-found',
      'contract-8-400-invalid-cursor',
    );
    const integration = await rig.integration();
    await rig.member(integration, 'ann');
    const chats = `/v2/integrations/${integration}/chats`;
    const made = await rig.api.post(chats, { chatId: 'c1', aliasChatId: 'a1', consumerId: 'ann' });
    assert.equal(made.status, 201);
    const { createdAt, updatedAt, ...chat } = made.body;
    assert.match(createdAt, ISO_TIME);
    assert.match(updatedAt, ISO_TIME);
    assert.deepEqual(chat, {
      chatId: 'c1',
      aliasChatId: 'a1',
      apiIntegrationId: integration,
      consumerId: 'ann',
      status: 'idle',
      activeRunId: null,
      numMessages: 0,
      pending: [],
      title: null,
      titlePreview: null,
      forkedFrom: null,
      replacedBy: null,
      approvals: [],
      lastingAgent: null,
      transient: false,
      metadata: null,
    });
    assert.deepEqual((await rig.api.get(`${chats}/c1`)).body, made.body);
    const getCode = async (body: object) => {
      const answer = await rig.api.post(chats, body);
      return `${answer.status} ${answer.body.code}`;
    };
    assert.equal(await getCode({ chatId: 'c1' }), '409 chat_exists');
    assert.equal(await getCode({ aliasChatId: 'a1' }), '409 alias_taken');
    assert.equal(await getCode({ consumerId: 'nobody' }), '404 member_not_found');
    const unnamed = (await rig.api.post(chats, {})).body;
    assert.deepEqual([unnamed.consumerId, unnamed.aliasChatId], [null, null]);

    const { reader } = await rig.answer({ apiIntegrationId: integration, consumerId: 'ann', aliasChatId: 'a1' });
    assert.equal(getChat({ reader }), 'c1');
    const page = (await rig.api.get(`${chats}?limit=1`)).body;
    assert.deepEqual(pickColumn(page.items, 'chatId'), [unnamed.chatId]);
    const rest = (await rig.api.get(`${chats}?limit=1&cursor=${page.nextCursor}`)).body;
    assert.deepEqual([rest.items[0].chatId, rest.items[0].numMessages, rest.nextCursor], ['c1', 2, null]);
    assert.equal((await rig.api.get(`${chats}?cursor=nonsense`)).body.code, 'invalid_cursor');

    assert.equal((await rig.api.delete(`${chats}/c1`)).status, 204);
    for (const path of ['/c1', '/c1/messages']) {
      const answer = await rig.api.get(chats + path);
      assert.deepEqual([answer.status, answer.body.code], [404, 'chat_not_found']);
    }
    assert.equal((await rig.api.delete(`${chats}/c1`)).status, 404);
    assert.equal((await rig.api.get(chats)).body.items.length, 1);
  });

  test('PATCH sets title and metadata, and lists show them', async (t) => {
    cites(t, 'contract-3-chat-patch', 'contract-9-chat-more', 'contract-8-404-chat-not-found');
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2030-01-01T00:00:00.000Z') });
    const integration = await rig.integration();
    const chats = `/v2/integrations/${integration}/chats`;
    const made = (await rig.api.post(chats, { chatId: 'c1' })).body;
    assert.equal((await rig.api.post(chats, { chatId: 'c2', title: 'No' })).status, 400, 'POST takes no title');
    t.mock.timers.tick(5000);
    // Texts can contain what PostgreSQL's text refuses.
    const title = `Zero \u0000, separator \u2028, ${'𝄞'.repeat(150)}`;
    const metadata = { odd: '\u0000\u2028', constructor: { a: 1 }, list: [1, null] };
    const patched = await rig.api.patch(`${chats}/c1`, { title, metadata });
    assert.equal(patched.status, 200);
    assert.deepEqual(patched.body, {
      ...made,
      title,
      titlePreview: title,
      metadata,
      updatedAt: '2030-01-01T00:00:05.000Z',
    });
    const shown = async () => {
      const { body } = await rig.api.get(`${chats}/c1`);
      const { items } = (await rig.api.get(chats)).body;
      assert.deepEqual(items, [body]);
      return [body.title, body.metadata];
    };
    assert.deepEqual(await shown(), [title, metadata]);
    const found = (await rig.api.get(`${chats}?updatedAfter=2030-01-01T00:00:04Z`)).body.items;
    assert.deepEqual(pickColumn(found, 'chatId'), ['c1'], 'a renamed chat has changed');

    assert.equal((await rig.api.patch(`${chats}/c1`, { title: null })).status, 200);
    assert.deepEqual(await shown(), [null, metadata], 'null removes, an absent field keeps');
    assert.equal((await rig.api.patch(`${chats}/c1`, { title: '', metadata: { b: 2 } })).status, 200);
    assert.deepEqual(await shown(), ['', { b: 2 }], 'metadata is replaced as a whole');
    assert.equal((await rig.api.patch(`${chats}/c1`, {})).status, 200);
    assert.deepEqual(await shown(), ['', { b: 2 }]);
    await rig.api.patch(`${chats}/c1`, { title: 'Kept', metadata: null });
    const held = await rig.hold({ apiIntegrationId: integration, chatId: 'c1' });
    const busy = await rig.api.patch(`${chats}/c1`, { metadata: { busy: true } });
    assert.deepEqual([busy.status, busy.body.activeRunId], [200, held.runId], 'also while a run is active');
    assert.deepEqual((await rig.api.get(`${chats}?status=running`)).body.items, [busy.body]);
    await held.finish();
    assert.deepEqual(await shown(), ['Kept', { busy: true }], 'a run changes neither');

    const refusedWith = async (body: object, path = 'c1') => {
      const answer = await rig.api.patch(`${chats}/${path}`, body);
      return [answer.status, answer.body.code];
    };
    const sized = (bytes: number) => ({ metadata: { a: 'x'.repeat(bytes - '{"a":""}'.length) } });
    for (const wrong of [
      { title: '𝄞'.repeat(201) },
      { title: 7 },
      { metadata: [] },
      { metadata: 'text' },
      sized(16_385),
      { name: 'x' },
      { chatId: 'c3' },
    ]) {
      assert.deepEqual(await refusedWith(wrong), [400, 'invalid_request'], JSON.stringify(wrong).slice(0, 80));
    }
    assert.deepEqual(await shown(), ['Kept', { busy: true }]);
    assert.equal((await rig.api.patch(`${chats}/c1`, { title: '𝄞'.repeat(200), ...sized(16_384) })).status, 200);
    assert.deepEqual(await refusedWith({ title: 'x' }, 'unknown'), [404, 'chat_not_found']);
    assert.deepEqual(await refusedWith({ title: 7 }, 'unknown'), [400, 'invalid_request'], 'the body is checked first');
    await rig.api.delete(`${chats}/c1`);
    assert.deepEqual(await refusedWith({ title: 'x' }), [404, 'chat_not_found']);
    const again = (await rig.api.post(chats, { chatId: 'c1' })).body;
    assert.deepEqual([again.title, again.metadata], [null, null], 'a new chat of the same name has nothing of the old');
  });

  test('a chat with an active run is running and cannot be deleted', async (t) => {
    cites(t, 'contract-6-chat-states', 'contract-3-chat-busy-delete', 'contract-8-409-run-active');
    const integration = await rig.integration();
    const chat = `/v2/integrations/${integration}/chats/c1`;
    const state = async () => {
      const { body } = await rig.api.get(chat);
      return [body.status, body.activeRunId];
    };
    const { reader, call, runId } = await rig.hold({
      apiIntegrationId: integration,
      chatId: 'c1',
      usageRequestId: 'u1',
    });
    assert.deepEqual(await state(), ['running', runId]);
    const refused = await rig.api.delete(chat);
    assert.equal(refused.status, 409);
    const { error, ...rest } = refused.body;
    assert.equal(typeof error, 'string');
    assert.deepEqual(rest, { code: 'run_active', runId, usageRequestId: 'u1', chatId: 'c1' });
    await call.end();
    await reader.whole();
    assert.deepEqual(await state(), ['idle', null]);
    assert.equal((await rig.api.delete(chat)).status, 204);
  });

  test('a deleted chat frees its id and alias; its runs stay without text', async (t) => {
    cites(t, 'contract-9-deleted-chat-frees', 'contract-9-deleted-chat-runs', 'contract-4-replay-deleted-chat');
    const integration = await rig.integration();
    const below = `/v2/integrations/${integration}`;
    const body = { apiIntegrationId: integration, chatId: 'c1', aliasChatId: 'a1' };
    const { runId } = await rig.answer({ ...body, usageRequestId: 'u1' }, 'Secret');
    await rig.api.delete(`${below}/chats/c1`);
    const { body: run } = await rig.api.get(`${below}/runs/${runId}`);
    assert.deepEqual([run.chatDeleted, run.message, run.status, run.chatId], [true, null, 'completed', 'c1']);
    const { body: status } = await rig.api.get(`${below}/chat_status?usageRequestId=u1`);
    assert.deepEqual([status.chatDeleted, status.run.message], [true, null]);
    const events = await refusal(await rig.api.events(runId, null, integration));
    assert.deepEqual([events.status, events.body.code], [404, 'chat_not_found']);
    assert.equal((await rig.api.get(`${below}/chat_status?chatId=c1`)).status, 404);
    assert.equal((await rig.api.get(`${below}/chat_status?aliasChatId=a1`)).status, 404);

    const again = await rig.hold({ ...body, usageRequestId: 'u2' });
    assert.equal(getChat(again), 'c1');
    assert.deepEqual(again.call.request.prompt, [{ kind: 'user', text: 'Hello' }], 'it is a new chat of the same name');
    await again.finish();
    assert.equal((await rig.api.get(`${below}/chats/c1`)).body.numMessages, 2);
  });

  test('the list of chats is filtered by member, status and time of change', async (t) => {
    cites(t, 'contract-3-chat-filters');
    const integration = await rig.integration();
    const chats = `/v2/integrations/${integration}/chats`;
    for (const consumerId of ['ann', 'bob']) await rig.member(integration, consumerId);
    for (const [chatId, consumerId] of [
      ['a1', 'ann'],
      ['b1', 'bob'],
      ['n1', null],
      ['a2', 'ann'],
      ['a3', 'ann'],
    ]) {
      assert.equal((await rig.api.post(chats, { chatId, consumerId })).status, 201);
    }
    const listed = async (query: string): Promise<string[]> => {
      const { status, body } = await rig.api.get(`${chats}?${query}`);
      assert.equal(status, 200, query);
      return body.items.map((item: { chatId: string }) => item.chatId);
    };
    assert.deepEqual(await listed(''), ['a3', 'a2', 'n1', 'b1', 'a1']);
    assert.deepEqual(await listed('consumerId=ann'), ['a3', 'a2', 'a1']);
    assert.deepEqual(await listed('consumerId=nobody'), []);
    const { reader, call } = await rig.hold({ apiIntegrationId: integration, chatId: 'a1', consumerId: 'ann' });
    assert.deepEqual(await listed('status=running'), ['a1']);
    assert.deepEqual(await listed('status=idle'), ['a3', 'a2', 'n1', 'b1']);
    assert.deepEqual(await listed('status=running&consumerId=bob'), []);
    assert.deepEqual(await listed('status=idle&consumerId=ann'), ['a3', 'a2']);
    await call.end();
    await reader.whole();
    const { updatedAt } = (await rig.api.get(`${chats}/a3`)).body;
    assert.deepEqual(
      await listed(`updatedAfter=${updatedAt}`),
      ['a1'],
      'changed by its run, later than the newest was made',
    );
    assert.deepEqual(await listed('updatedAfter=2000-01-01T00:00:00Z&consumerId=bob'), ['b1']);
    const paged: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await rig.api.get(`${chats}?consumerId=ann&limit=1${cursor}`);
      paged.push(...body.items.map((item: { chatId: string }) => item.chatId));
      if (body.nextCursor === null) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    assert.deepEqual(paged, ['a3', 'a2', 'a1'], 'page by page');
    for (const wrong of ['status=busy', 'updatedAfter=yesterday', 'consumer=ann']) {
      const { status, body } = await rig.api.get(`${chats}?${wrong}`);
      assert.deepEqual([status, body.code], [400, 'invalid_request'], wrong);
    }
  });

  test('sorts chats by their last change, with a stable cursor', async (t) => {
    cites(t, 'contract-3-chat-sort', 'contract-3-bound-cursor');
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2030-01-01T00:00:00.000Z') });
    const integration = await rig.integration();
    const chats = `/v2/integrations/${integration}/chats`;
    const patch = async (chatId: string) => {
      t.mock.timers.tick(60_000);
      assert.equal((await rig.api.patch(`${chats}/${chatId}`, { title: chatId })).status, 200);
    };
    await rig.member(integration, 'ann');
    for (const chatId of ['a', 'b', 'c', 'd']) {
      await rig.api.post(chats, { chatId, consumerId: 'ann' });
      t.mock.timers.tick(1_800_000);
    }
    await patch('b');
    t.mock.timers.tick(1);
    await rig.answer({ apiIntegrationId: integration, chatId: 'a', consumerId: 'ann' });
    await patch('c');
    const listed = async (query: string) => pickColumn((await rig.api.get(`${chats}?${query}`)).body.items, 'chatId');
    assert.deepEqual(await listed(''), ['d', 'c', 'b', 'a']);
    assert.deepEqual(await listed('sort=created'), ['d', 'c', 'b', 'a']);
    for (const filter of ['', '&consumerId=ann', '&status=idle', '&updatedAfter=2030-01-01T00:00:00Z']) {
      assert.deepEqual(await listed(`sort=updated${filter}`), ['c', 'a', 'b', 'd'], filter);
      const paged: string[] = [];
      for (let cursor = ''; ; ) {
        const { body } = await rig.api.get(`${chats}?sort=updated${filter}&limit=1${cursor}`);
        paged.push(...pickColumn(body.items, 'chatId').map(String));
        if (body.nextCursor === null) break;
        cursor = `&cursor=${body.nextCursor}`;
      }
      assert.deepEqual(paged, ['c', 'a', 'b', 'd'], `page by page${filter}`);
    }
    const { nextCursor } = (await rig.api.get(`${chats}?sort=updated&limit=2`)).body;
    await patch('d');
    assert.deepEqual(
      await listed(`sort=updated&limit=2&cursor=${nextCursor}`),
      ['b'],
      'a changed chat moves to the front',
    );
    assert.deepEqual(await listed('sort=updated'), ['d', 'c', 'a', 'b']);
    assert.equal((await rig.api.get(`${chats}?limit=2&cursor=${nextCursor}`)).body.code, 'invalid_cursor');
    assert.equal((await rig.api.get(`${chats}?sort=title`)).body.code, 'invalid_request');
  });

  test('titlePreview is the title or the first line of the first message', async (t) => {
    cites(t, 'contract-9-title-preview');
    const integration = await rig.integration();
    const chats = `/v2/integrations/${integration}/chats`;
    const preview = async (message: string) => {
      await rig.answer({ apiIntegrationId: integration, chatId: 'c1', message });
      await rig.answer({ apiIntegrationId: integration, chatId: 'c1', message: 'The second message' });
      const [{ titlePreview }] = (await rig.api.get(chats)).body.items;
      assert.equal((await rig.api.get(`${chats}/c1`)).body.titlePreview, titlePreview);
      await rig.api.patch(`${chats}/c1`, { title: 'Rome' });
      assert.equal((await rig.api.get(chats)).body.items[0].titlePreview, 'Rome');
      await rig.api.delete(`${chats}/c1`);
      return titlePreview;
    };
    assert.equal(await preview('Hi'), 'Hi');
    assert.equal(await preview('\n  Trains\tto  Rome? \r\nPlease.'), 'Trains to Rome?');
    assert.equal(await preview(' \n'), null);
    // Each of these characters takes 12 characters in the JSON of other programs, and NUL takes six.
    assert.equal(await preview(`${'\u0000'.repeat(90)}${'𝄞'.repeat(300)}`), `${'\u0000'.repeat(90)}${'𝄞'.repeat(110)}`);
    assert.equal(await preview('\u0001"\\'.repeat(2000)), '\u0001"\\'.repeat(67).slice(0, 200));
    const { body } = await rig.api.post(chats, { history: [{ role: 'user', content: 'Imported' }] });
    assert.equal(body.titlePreview, 'Imported');
  });
}
