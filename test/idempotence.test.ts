import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SCRIPTED_USAGE, STORES, type StoreName, TEST_API_KEY, withoutComments } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { messagesFrame, refusal, ScriptedServer } from './support/scripted-server.ts';

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store });

  const toUsage = async (integration: string, usageRequestId: string) =>
    (await rig.api.get(`/v2/integrations/${integration}/usage?usageRequestId=${usageRequestId}`)).body.items;

  /** Posts a body with exactly these bytes. */
  async function post(body: string): Promise<{ status: number; replayed: string | null; code: string | null }> {
    const response = await fetch(`${rig.server.url}/get_completion_v2`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_API_KEY}`, 'content-type': 'application/json' },
      body,
    });
    const text = await response.text();
    const code = response.status === 200 ? null : JSON.parse(text).code;
    return { status: response.status, replayed: response.headers.get('x-run-replayed'), code };
  }

  test('sent again with the same body never starts and never charges again', async (t) => {
    cites(t, 'contract-4-replay', 'contract-4-replay-stream', 'spec-2.1-usage-request-id');
    const integration = await rig.metered({ unit: 'tokens', limit: 1000, period: 'day' });
    const body = { apiIntegrationId: integration, consumerId: 'ann', usageRequestId: 'u1' };
    const calls = rig.controller.calls.length;
    const { reader, call, runId } = await rig.hold(body);
    assert.equal(reader.headers['x-run-replayed'], undefined);
    const live = await rig.api.complete(body);
    assert.deepEqual([live.status, live.headers['x-run-replayed'], live.headers['x-run-id']], [200, 'true', runId]);
    await call.text('Hi');
    await live.untilText('"delta":"Hi"');
    await call.end();
    await Promise.all([reader.whole(), live.whole()]);
    const again = await rig.api.complete(body);
    await again.whole();
    assert.deepEqual([again.status, again.headers['x-run-replayed'], again.headers['x-run-id']], [200, 'true', runId]);
    for (const other of [live, again]) assert.equal(withoutComments(other.text), withoutComments(reader.text));
    assert.equal(rig.controller.calls.length - calls, 1);
    assert.equal((await toUsage(integration, 'u1')).length, 1);
    const { used, reserved } = await rig.allowance(integration);
    assert.deepEqual([used, reserved], [SCRIPTED_USAGE.inputTokens + SCRIPTED_USAGE.outputTokens, 0]);
    const { body: history } = await rig.api.get(
      `/v2/integrations/${integration}/chats/${reader.headers['x-chat-id']}/messages`,
    );
    assert.equal(history.items.length, 2);
  });

  test('of two concurrent bodies with one id, one is admitted', async (t) => {
    cites(
      t,
      'contract-4-other-body',
      'contract-8-400-usage-request-id-reused',
      'contract-9-refusal-reused',
      'contract-4-usage-request-id-unique',
    );
    const integration = await rig.integration();
    const calls = rig.controller.calls.length;
    const messages = Array.from({ length: 10 }, (_, n) => `Say ${n % 2}`);
    const readers = await Promise.all(
      messages.map((message) => rig.api.complete({ apiIntegrationId: integration, usageRequestId: 'u1', message })),
    );
    const admitted = readers.filter(({ status }) => status === 200);
    assert.equal(admitted.length, 5);
    await (await rig.controller.nextCall()).end();
    await Promise.all(admitted.map((reader) => reader.whole()));
    const [runId, ...others] = new Set(admitted.map(({ headers }) => headers['x-run-id']));
    assert.deepEqual(others, []);
    for (const reader of readers.filter(({ status }) => status !== 200)) {
      const { status, admitted: header, body } = await refusal(reader);
      const { error, ...rest } = body;
      assert.ok(error.includes(String(runId)));
      assert.deepEqual([status, header, rest], [400, 'false', { code: 'usage_request_id_reused', runId }]);
    }
    assert.equal(rig.controller.calls.length - calls, 1);
  });

  test('key order and null for absent at the top do not change the body', async (t) => {
    cites(t, 'contract-4-same-body', 'contract-4-other-body');
    const integration = await rig.integration({ agency: 'test' });
    const first = `{"apiIntegrationId":"${integration}","message":"Hi","usageRequestId":"u1","user_context":{"a":1,"b":{"c":[1,2],"d":null}}}`;
    const posted = post(first);
    await (await rig.controller.nextCall()).end();
    assert.deepEqual(await posted, { status: 200, replayed: null, code: null });
    const replay = { status: 200, replayed: 'true', code: null };
    const rest = `"apiIntegrationId":"${integration}","usageRequestId":"u1"`;
    const context = '"user_context":{"a":1,"b":{"c":[1,2],"d":null}}';
    assert.deepEqual(await post(`{"user_context":{"b":{"d":null,"c":[1,2]},"a":1},"message":"Hi",${rest}}`), replay);
    assert.deepEqual(await post(`{${rest},${context},"message":"\\u0048i","chatId":null,"aliasChatId":null}`), replay);
    assert.deepEqual(await post(`{${rest},"message":"Hi","user_context":{"a":1.0,"b":{"c":[1,2],"d":null}}}`), replay);

    const bare = `{"apiIntegrationId":"${integration}","usageRequestId":"u2","message":"Hi"`;
    const second = post(`${bare},"user_context":null,"chatId":null}`);
    await (await rig.controller.nextCall()).end();
    assert.deepEqual(await second, { status: 200, replayed: null, code: null });
    assert.deepEqual(await post(`${bare}}`), replay);
    assert.deepEqual(await post(`${bare},"user_context":null}`), replay);

    const other = { status: 400, replayed: null, code: 'usage_request_id_reused' };
    assert.deepEqual(await post(`${bare},"user_context":{}}`), other);
    for (const changed of [
      `${context},"message":"Hi "`,
      `${context},"message":"hi"`,
      `${context},"message":"Hi","agent":"Clerk"`,
      `${context},"message":"Hi","attachments":[]`,
      '"message":"Hi"',
      '"message":"Hi","user_context":null',
      '"message":"Hi","user_context":{"a":1,"b":{"c":[1,2]}}',
      '"message":"Hi","user_context":{"a":1,"b":{"c":[2,1],"d":null}}',
      '"message":"Hi","user_context":{"a":"1","b":{"c":[1,2],"d":null}}',
      '"message":"Hi","user_context":"{}"',
    ]) {
      assert.deepEqual(await post(`{${rest},${changed}}`), other, changed);
    }
  });

  test('naming the chat of the run, by id or alias, does not change the body', async (t) => {
    cites(t, 'contract-4-same-body-chat');
    const integration = await rig.integration();
    const of = (body: object) => ({ apiIntegrationId: integration, ...body });
    const { reader, runId } = await rig.answer(of({ usageRequestId: 'u1', aliasChatId: 'a1' }));
    const chatId = decodeURIComponent(String(reader.headers['x-chat-id']));
    await rig.answer(of({ usageRequestId: 'u2', chatId: 'c2', aliasChatId: 'a2' }));
    for (const address of [{}, { chatId }, { aliasChatId: 'a1' }, { chatId, aliasChatId: 'a1' }]) {
      const replay = await rig.api.complete(of({ usageRequestId: 'u1', ...address }));
      await replay.whole();
      assert.deepEqual([replay.headers['x-run-replayed'], replay.headers['x-run-id']], ['true', runId]);
    }
    for (const address of [{ chatId: 'c2' }, { chatId: 'new' }, { aliasChatId: 'a2' }, { chatId, aliasChatId: 'a2' }]) {
      const { body } = await refusal(await rig.api.complete(of({ usageRequestId: 'u1', ...address })));
      assert.deepEqual([body.code, body.runId], ['usage_request_id_reused', runId], JSON.stringify(address));
    }
  });

  test('replays a failed and a cancelled run too', async (t) => {
    cites(t, 'contract-4-replay-ended');
    const integration = await rig.integration();
    const of = (usageRequestId: string) => ({ apiIntegrationId: integration, usageRequestId });
    const calls = rig.controller.calls.length;
    const failed = await rig.hold(of('failed'));
    await failed.call.text('Half');
    await failed.call.fail('model_error', 'No.');
    await failed.reader.whole();
    const cancelled = await rig.hold(of('cancelled'));
    await cancelled.call.text('Part');
    await cancelled.reader.untilText('Part');
    await rig.api.post(`/v2/integrations/${integration}/runs/${cancelled.runId}/cancel`);
    await cancelled.reader.whole();
    for (const [status, { reader, runId }] of Object.entries({ failed, cancelled })) {
      const replay = await rig.api.complete(of(status));
      await replay.whole();
      const { headers } = replay;
      assert.deepEqual([replay.status, headers['x-run-replayed'], headers['x-run-id']], [200, 'true', runId]);
      assert.equal(withoutComments(replay.text), withoutComments(reader.text));
      assert.equal(messagesFrame(replay).status, status);
    }
    assert.equal(rig.controller.calls.length - calls, 2);
  });

  test('retries a failed response as a new request with a new id', async (t) => {
    cites(t, 'contract-4-retry-new-id', 'contract-4-replay-ended');
    const integration = await rig.integration();
    const body = { apiIntegrationId: integration, chatId: 'c1', message: 'Do it' };
    const failed = await rig.hold({ ...body, usageRequestId: 'u1' });
    await failed.call.fail('model_error', 'No.');
    await failed.reader.whole();
    const replay = await rig.api.complete({ ...body, usageRequestId: 'u1' });
    await replay.whole();
    assert.equal(replay.headers['x-run-id'], failed.runId);
    const retried = await rig.answer({ ...body, usageRequestId: 'u2' }, 'Done');
    assert.notEqual(retried.runId, failed.runId);
    assert.equal(retried.reader.answer, 'Done');
  });

  test('keeps run, usage record and id of a deleted chat, without a replay', async (t) => {
    cites(
      t,
      'contract-4-usage-request-id-unique',
      'contract-4-replay-deleted-chat',
      'contract-8-400-usage-request-id-reused',
    );
    const integration = await rig.metered({ unit: 'runs', limit: 5, period: 'day' });
    const below = `/v2/integrations/${integration}`;
    const body = { apiIntegrationId: integration, consumerId: 'ann', usageRequestId: 'u1', chatId: 'c1' };
    const { runId } = await rig.answer(body);
    assert.equal((await rig.api.delete(`${below}/chats/c1`)).status, 204);
    const { status, admitted, body: said } = await refusal(await rig.api.complete(body));
    assert.deepEqual([status, admitted, said.code, said.runId], [400, 'false', 'usage_request_id_reused', runId]);
    const { body: kept } = await rig.api.get(`${below}/chat_status?usageRequestId=u1`);
    assert.deepEqual(
      [kept.chatDeleted, kept.status, kept.run.runId, kept.run.status],
      [true, 'idle', runId, 'completed'],
    );
    assert.equal((await rig.api.get(`${below}/runs/${runId}`)).body.runId, runId);
    const [record, ...more] = await toUsage(integration, 'u1');
    assert.deepEqual([record.runId, record.charged, more], [runId, { unit: 'runs', amount: 1 }, []]);
    // Each integration has its own ids.
    const elsewhere = await rig.integration();
    const other = await rig.answer({ apiIntegrationId: elsewhere, usageRequestId: 'u1' });
    assert.equal(other.reader.headers['x-run-replayed'], undefined);
  });

  test('honours a valid Last-Event-ID on the POST only in a replay', async (t) => {
    cites(t, 'contract-4-post-last-event-id', 'contract-4-replay-stream');
    const integration = await rig.integration();
    const body = { apiIntegrationId: integration, usageRequestId: 'u1' };
    const reader = await rig.api.complete(body, { 'last-event-id': '3' });
    const call = await rig.controller.nextCall();
    await call.text('Hi');
    await call.end();
    const frames = await reader.whole();
    assert.equal(frames[0]?.event, 'meta', 'the first send is read from its start');
    const idsAfter = async (lastEventId: string) => {
      const replay = await rig.api.complete(body, { 'last-event-id': lastEventId });
      assert.deepEqual([replay.status, replay.headers['x-run-replayed']], [200, 'true'], lastEventId);
      return (await replay.whole()).map(({ id }) => id);
    };
    const all = frames.map(({ id }) => id);
    assert.deepEqual(
      await idsAfter('3'),
      all.filter((id) => id > 3),
    );
    const last = all.at(-1) ?? 0;
    assert.deepEqual(await idsAfter(String(last - 1)), [last]);
    for (const useless of ['abc', '-1', '1.5', '', String(last), String(last + 7), '99999999999999999999']) {
      assert.deepEqual(await idsAfter(useless), all, useless);
    }
  });

  test('a replay with Last-Event-ID ahead of a live run waits for it or for the end', async (t) => {
    cites(t, 'contract-4-post-last-event-id', 'contract-4-ahead-of-end');
    const integration = await rig.integration();
    const body = { apiIntegrationId: integration, usageRequestId: 'ahead' };
    const { reader, call } = await rig.hold(body);
    await call.text('one');
    await reader.untilText('"one"');
    const seen = reader.frames.at(-1)?.id ?? 0;
    const ahead = await rig.api.complete(body, { 'last-event-id': String(seen + 2) });
    await ahead.until(({ text }) => text.startsWith(':'));
    const beyond = await rig.api.complete(body, { 'last-event-id': String(seen + 1000) });
    await beyond.until(({ text }) => text.startsWith(':'));
    for (const text of ['two', 'three', 'four']) await call.text(text);
    await call.end();
    const all = await reader.whole();
    assert.deepEqual(
      await ahead.whole(),
      all.filter(({ id }) => id > seen + 2),
    );
    assert.deepEqual(await beyond.whole(), all.slice(-2), 'messages and end');
  });
}
