import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type ApiClient, STORES, type Store, type StoreName, TEST_API_KEY, type Tx } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { RawConnection } from './support/raw-http.ts';
import { messagesFrame, refusal, ScriptedServer } from './support/scripted-server.ts';

/** Returns the status and a refused completion's code. */
async function refused(api: ApiClient, body: Readonly<Record<string, unknown>>): Promise<string> {
  const said = await refusal(await api.complete(body));
  assert.equal(said.admitted, 'false', `${said.status} ${said.body.code} carries the header`);
  assert.match(said.body.error, /\.$/);
  assert.match(said.contentType, /^application\/json/);
  return `${said.status} ${said.body.code}`;
}

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store });
  /** A key of another owner, on the same server. */
  let stranger: ApiClient;
  before(async () => {
    stranger = (await rig.owner('stranger@example.com')).api;
  });

  /** Sends bytes as they are; returns the status and the answer's header. */
  async function raw(bytes: string) {
    const connection = new RawConnection(rig.server.url);
    connection.send(bytes);
    const text = await connection.closed;
    return [Number(text.split(' ')[1]), /^x-agent-run-admitted: (.*)$/im.exec(text)?.[1]?.trim()];
  }

  const ids = async (path: string, field: string) =>
    (await rig.api.get(path)).body.items.map((item: Record<string, unknown>) => item[field]);

  test('runs an agent on behalf of one integration and one member', async (t) => {
    cites(t, 'spec-1-run-agent', 'spec-1-own-backend', 'spec-1-on-behalf', 'contract-3-completion');
    const integration = await rig.integration();
    await rig.member(integration, 'ann');
    const { reader, runId } = await rig.answer({ apiIntegrationId: integration, consumerId: 'ann' }, 'Good day');
    assert.equal(reader.answer, 'Good day');
    assert.equal(reader.headers['content-type'], 'text/event-stream; charset=utf-8');
    assert.equal(JSON.parse(reader.frames[0]?.data ?? '').consumerId, 'ann');
    const { body: run } = await rig.api.get(`/v2/integrations/${integration}/runs/${runId}`);
    assert.deepEqual([run.apiIntegrationId, run.consumerId], [integration, 'ann']);
    assert.equal((await rig.api.get(`/v2/integrations/demo/runs/${runId}`)).status, 404);
  });

  test('a request that fails two checks is refused for the first one', async (t) => {
    cites(t, 'contract-4-order', 'contract-8-404-member-not-found', 'contract-8-404-chat-not-found');
    const limit = { unit: 'runs', limit: 2, period: 'day' };
    const integration = await rig.metered(limit);
    for (const consumer of ['ben', 'idle']) await rig.member(integration, consumer);
    await rig.member(integration, 'idle', { active: false });
    const of = (body: object) => ({ apiIntegrationId: integration, ...body });
    const first = { consumerId: 'ann', usageRequestId: 'first', chatId: 'ann-chat', aliasChatId: 'ann-alias' };
    await rig.answer(of(first));
    const busy = await rig.hold(of({ consumerId: 'ann', usageRequestId: 'busy', chatId: 'busy-chat' }));
    assert.equal((await rig.allowance(integration)).remaining, 0);

    // The checks run in this order. The key is checked before the body.
    const keyless = await rig.api.as(null).call('POST', '/get_completion_v2', '{"message":');
    assert.deepEqual([keyless.status, keyless.body.code], [401, 'invalid_api_key']);
    // The body is checked before the integration.
    assert.equal(await refused(rig.api, { apiIntegrationId: 'nowhere', message: 1 } as never), '400 invalid_request');
    // The integration is checked before its owner: the deleted integration belonged to another owner, too.
    await stranger.post('/v2/integrations', { apiIntegrationId: 'gone' });
    await stranger.delete('/v2/integrations/gone');
    assert.equal(await refused(rig.api, { apiIntegrationId: 'gone' }), '404 integration_not_found');
    // The owner is checked before the attribution.
    assert.equal(await refused(stranger, of({})), '403 integration_forbidden');
    // The attribution is checked before a replay.
    const { consumerId: _, ...unattributed } = first;
    assert.equal(await refused(rig.api, of(unattributed)), '400 missing_allowance_attribution');
    // A replay is detected before the member is checked.
    assert.equal(await refused(rig.api, of({ ...first, consumerId: 'nobody' })), '400 usage_request_id_reused');
    // The check of the member precedes the check for inactive: this member was inactive when it was deleted.
    await rig.member(integration, 'left', { active: false });
    await rig.api.delete(`/v2/integrations/${integration}/members/left`);
    const theirs = { usageRequestId: 'next', chatId: 'ann-chat' };
    assert.equal(await refused(rig.api, of({ ...theirs, consumerId: 'left' })), '404 member_not_found');
    // An inactive member is refused before the chat is checked.
    assert.equal(await refused(rig.api, of({ ...theirs, consumerId: 'idle' })), '429 consumer_inactive');
    // The chat is checked before the agent.
    assert.equal(await refused(rig.api, of({ ...theirs, consumerId: 'ben', agent: 'X' })), '404 chat_not_found');
    const ann = { consumerId: 'ann', usageRequestId: 'next' };
    const torn = { ...ann, chatId: 'busy-chat', aliasChatId: 'ann-alias' };
    assert.equal(await refused(rig.api, of({ ...torn, agent: 'X' })), '400 invalid_request');
    // The agent is checked before the busy chat.
    assert.equal(await refused(rig.api, of({ ...ann, chatId: 'busy-chat', agent: 'X' })), '400 unknown_agent');
    // The busy chat is checked before the allowance.
    assert.equal(await refused(rig.api, of({ ...ann, chatId: 'busy-chat' })), '409 run_active');
    // The allowance is checked last.
    assert.equal(await refused(rig.api, of({ ...ann, chatId: 'ann-chat' })), '429 consumer_allowance_exhausted');
    await busy.finish();
  });

  test('replays a known id after changes of member, agent, allowance and chat', async (t) => {
    cites(t, 'contract-4-replay-first');
    const integration = await rig.metered({ unit: 'runs', limit: 1, period: 'lifetime' }, { agency: 'test' });
    const body = {
      apiIntegrationId: integration,
      consumerId: 'ann',
      usageRequestId: 'u1',
      chatId: 'c1',
      agent: 'Clerk',
    };
    const { runId } = await rig.answer(body);
    const replays = async () => {
      const reader = await rig.api.complete(body);
      await reader.whole();
      return [reader.status, reader.headers['x-run-replayed'], reader.headers['x-run-id'], reader.answer];
    };
    const expected = [200, 'true', runId, 'Hi'];
    assert.equal((await rig.allowance(integration)).exhausted, true);
    assert.deepEqual(await replays(), expected);
    await rig.member(integration, 'ann', { active: false });
    assert.deepEqual(await replays(), expected);
    await rig.member(integration, 'ann', { active: true, allowance: { limit: 2 } });
    const busy = await rig.hold({ ...body, usageRequestId: 'u2' });
    assert.deepEqual(await replays(), expected);
    await busy.finish();
    await rig.api.patch(`/v2/integrations/${integration}`, { agency: 'demo' });
    assert.deepEqual(await replays(), expected);
    await rig.api.delete(`/v2/integrations/${integration}/members/ann`);
    assert.deepEqual(await replays(), expected);
  });

  test('each refusal has its status, sentence and header; none reserves', async (t) => {
    cites(
      t,
      'spec-4.1-error-responses',
      'spec-2.4-error',
      'spec-2.4-code',
      'contract-3-errors',
      'spec-7-error-bodies',
      'spec-7-400',
      'spec-7-401',
      'spec-7-403',
      'spec-7-404',
      'spec-7-409',
      'spec-7-429',
      'spec-7-rule-1',
      'contract-4-header-false',
      'contract-4-refused-no-chat',
      'contract-4-refused-id-unused',
      'contract-8-429-consumer-inactive',
      'contract-8-400-missing-allowance-attribution',
    );
    const integration = await rig.metered({ unit: 'runs', limit: 10, period: 'day' });
    await rig.member(integration, 'full', { allowance: { limit: 0 } });
    await rig.member(integration, 'idle', { active: false });
    const of = (body: object) => ({ apiIntegrationId: integration, usageRequestId: 'next', chatId: 'c-new', ...body });
    const busy = await rig.hold(of({ consumerId: 'ann', usageRequestId: 'busy', chatId: 'c-busy' }));
    const ann = { consumerId: 'ann' };
    assert.equal(await refused(rig.api, of({ ...ann, message: 7 }) as never), '400 invalid_request');
    assert.equal(await refused(rig.api, of({})), '400 missing_allowance_attribution');
    assert.equal(await refused(rig.api.as('no-such-key'), of(ann)), '401 invalid_api_key');
    assert.equal(await refused(stranger, of(ann)), '403 integration_forbidden');
    assert.equal(await refused(rig.api, { ...of(ann), apiIntegrationId: 'nowhere' }), '404 integration_not_found');
    assert.equal(await refused(rig.api, of({ consumerId: 'nobody' })), '404 member_not_found');
    assert.equal(await refused(rig.api, of({ ...ann, chatId: 'c-busy' })), '409 run_active');
    assert.equal(await refused(rig.api, of({ consumerId: 'idle' })), '429 consumer_inactive');
    assert.equal(await refused(rig.api, of({ consumerId: 'full' })), '429 consumer_allowance_exhausted');

    const below = `/v2/integrations/${integration}`;
    assert.deepEqual(await ids(`${below}/runs`, 'runId'), [busy.runId]);
    assert.deepEqual(await ids(`${below}/usage`, 'runId'), [busy.runId]);
    assert.deepEqual(await ids(`${below}/chats`, 'chatId'), ['c-busy']);
    assert.equal((await rig.api.get(`${below}/chats/c-busy`)).body.numMessages, 1);
    assert.equal((await rig.allowance(integration, 'full')).reserved, 0);
    assert.equal((await rig.allowance(integration)).reserved, 1);
    assert.equal((await rig.api.get(`${below}/chat_status?usageRequestId=next`)).body.code, 'run_not_found');

    const { reader } = await rig.answer(of(ann));
    assert.equal(reader.headers['x-run-replayed'], undefined, 'the refused id was still unused');
    await busy.finish();
  });

  test('every answer at the path has the header, also to other requests', async (t) => {
    cites(t, 'contract-4-header-always');
    const getHeader = async (method: string, path: string, headers: Record<string, string>, body?: string) => {
      const response = await fetch(rig.server.url + path, { method, headers, ...(body === undefined ? {} : { body }) });
      await response.text();
      return [response.status, response.headers.get('x-agent-run-admitted')];
    };
    const path = '/get_completion_v2';
    const key = { authorization: `Bearer ${TEST_API_KEY}` };
    const json = { ...key, 'content-type': 'application/json' };
    assert.deepEqual(await getHeader('POST', path, {}), [401, 'false']);
    assert.deepEqual(await getHeader('POST', path, json, '{"apiIntegrationId":'), [400, 'false']);
    assert.deepEqual(await getHeader('POST', path, json, ''), [400, 'false']);
    assert.deepEqual(await getHeader('POST', path, { ...key, 'content-type': 'text/plain' }, 'Hi'), [400, 'false']);
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      assert.deepEqual(await getHeader(method, path, key), [405, 'false'], method);
    }
    assert.deepEqual(await getHeader('POST', `${path}/`, {}), [401, 'false']);
    assert.deepEqual(await getHeader('POST', `${path}?a=b`, {}), [401, 'false']);
    assert.deepEqual(await getHeader('POST', '/get%5Fcompletion_v2', {}), [401, 'false']);

    const post = `POST ${path} HTTP/1.1\r\n`;
    const close = 'Connection: close\r\n\r\n';
    assert.deepEqual(await raw(`${post}Host x\r\n\r\n`), [400, 'false'], 'a header without a colon');
    assert.deepEqual(await raw('PO ST /get_completion_v2 HTTP/1.1\r\n\r\n'), [400, 'false'], 'no method');
    assert.deepEqual(await raw(`${post}Host: x\r\nContent-Length: -1\r\n${close}`), [400, 'false'], 'a bad length');
    assert.deepEqual(await raw(`${post}Host: x\r\nX: ${'a'.repeat(20_000)}\r\n${close}`), [431, 'false']);
    assert.deepEqual(
      await raw(`POST http://x${path} HTTP/1.1\r\nHost: x\r\n${close}`),
      [401, 'false'],
      'absolute form',
    );
  });

  test('answers that Node would send by itself have the header', async (t) => {
    cites(t, 'contract-4-header-always');
    const post = 'POST /get_completion_v2 HTTP/1.1\r\nConnection: close\r\n';
    assert.equal((await raw(`${post}\r\n`))[1], 'false', 'no host');
    assert.equal((await raw(`${post}Host: x\r\nExpect: cake\r\n\r\n`))[1], 'false', 'an unknown expectation');
  });

  test('needs non-blank member and usage request id if allowances are on', async (t) => {
    cites(
      t,
      'spec-1-attribution',
      'spec-4.1-rule-1',
      'spec-2.1-consumer-id',
      'spec-2.1-usage-request-id',
      'contract-4-blank-attribution',
      'contract-8-400-missing-allowance-attribution',
    );
    const integration = await rig.metered({ unit: 'runs', limit: 10, period: 'day' });
    const of = (body: object) => ({ apiIntegrationId: integration, ...body });
    const both = { consumerId: 'ann', usageRequestId: 'u1' };
    for (const field of Object.keys(both)) {
      for (const blank of [undefined, '', '   ', '\u00a0\u2003']) {
        const { status, body } = await refusal(await rig.api.complete(of({ ...both, [field]: blank })));
        assert.deepEqual([status, body.code], [400, 'missing_allowance_attribution']);
        assert.match(body.error, new RegExp(`\`${field}\` is missing`));
      }
    }
    await rig.answer(of(both));

    const free = await rig.integration();
    const { reader } = await rig.answer({ apiIntegrationId: free, consumerId: ' ', usageRequestId: ' ' });
    const meta = JSON.parse(reader.frames[0]?.data ?? '');
    assert.deepEqual([meta.consumerId, meta.usageRequestId], [null, null]);
  });

  test('a named member must be registered and active, allowances on or off', async (t) => {
    cites(t, 'contract-4-member-checked', 'spec-4.1-rule-2', 'spec-1-refused-consumer', 'spec-7-404');
    const off = await rig.integration();
    const on = await rig.integration({ allowances: { unit: 'runs', limit: 10, period: 'day' } });
    for (const integration of [off, on]) {
      const body = { apiIntegrationId: integration, consumerId: 'ann', usageRequestId: 'u1' };
      assert.equal(await refused(rig.api, body), '404 member_not_found');
      await rig.member(integration, 'ann', { active: false });
      assert.equal(await refused(rig.api, body), '429 consumer_inactive');
      await rig.member(integration, 'ann', { active: true });
      const { reader } = await rig.answer(body);
      assert.equal(reader.status, 200);
    }
  });

  test("accepts a request only with a key of the integration's owner", async (t) => {
    cites(t, 'spec-4.1-rule-3', 'spec-7-403');
    const integration = await rig.integration();
    assert.equal(await refused(stranger, { apiIntegrationId: integration }), '403 integration_forbidden');
    await stranger.post('/v2/integrations', { apiIntegrationId: 'strangers' });
    assert.equal(await refused(rig.api, { apiIntegrationId: 'strangers' }), '403 integration_forbidden');
    const reader = await stranger.complete({ apiIntegrationId: 'strangers' });
    await (await rig.controller.nextCall()).end();
    await reader.whole();
    assert.equal(reader.status, 200);
  });

  test('refuses a second run in a busy chat and names the active one', async (t) => {
    cites(
      t,
      'contract-4-busy',
      'spec-3-active-409',
      'spec-7-409',
      'contract-8-409-run-active',
      'contract-9-refusal-run-active',
    );
    const integration = await rig.integration();
    const of = (body: object) => ({ apiIntegrationId: integration, aliasChatId: 'a1', ...body });
    const active = await rig.hold(of({ usageRequestId: 'u1', chatId: 'c1' }));
    for (const address of [{}, { chatId: 'c1' }, { chatId: 'c1', aliasChatId: null }]) {
      const { status, body } = await refusal(await rig.api.complete(of({ usageRequestId: 'u2', ...address })));
      assert.equal(status, 409);
      const { error, ...rest } = body;
      assert.equal(typeof error, 'string');
      assert.deepEqual(rest, { code: 'run_active', runId: active.runId, usageRequestId: 'u1', chatId: 'c1' });
    }
    await active.finish();
    const next = await rig.hold(of({ usageRequestId: 'u2' }));
    const { body: stopped } = await rig.api.post(`/v2/integrations/${integration}/runs/${next.runId}/cancel`);
    assert.equal(stopped.status, 'cancelled');
    await rig.answer(of({ usageRequestId: 'u3' }));
  });

  test('names the entry points if `agent` is none of them', async (t) => {
    cites(t, 'contract-8-400-unknown-agent');
    const integration = await rig.integration({ agency: 'test' });
    const { status, body } = await refusal(await rig.api.complete({ apiIntegrationId: integration, agent: 'Nobody' }));
    assert.deepEqual([status, body.code], [400, 'unknown_agent']);
    assert.match(body.error, /`Clerk`.*`Writer`/);
  });

  test('reports a failure after the reservation in the stream, not as a status', async (t) => {
    cites(t, 'contract-4-no-error-after-reservation');
    const integration = await rig.integration();
    const { reader, call } = await rig.hold({ apiIntegrationId: integration });
    await call.fail('model_error', 'No.');
    await reader.whole();
    assert.deepEqual([reader.status, reader.headers['x-agent-run-admitted']], [200, 'true']);
    assert.deepEqual(messagesFrame(reader).error, { code: 'model_error', message: 'No.' });
  });

  test('admits everything or reserves nothing if the last write fails', async (t) => {
    cites(t, 'contract-4-one-transaction', 'contract-4-header-false');
    let broken = true;
    const wrapStore = (store: Store): Store => ({
      kind: store.kind,
      reads: store.reads,
      transact: (name, job, locks) => {
        const failing = async (tx: Tx) => {
          const result = await job(tx);
          if (name === 'admit' && broken) throw new Error('the last write failed');
          return result;
        };
        return store.transact(name, failing, locks);
      },
      [Symbol.asyncDispose]: async () => {},
    });
    await using own = await ScriptedServer.start({ store, wrapStore });
    const integration = await own.metered({ unit: 'tokens', limit: 1000, period: 'day' });
    const body = { apiIntegrationId: integration, consumerId: 'ann', usageRequestId: 'u1', chatId: 'c1' };
    const { status, admitted, body: said } = await refusal(await own.api.complete(body));
    assert.deepEqual([status, said.code, admitted], [500, 'internal_error', 'false']);
    const below = `/v2/integrations/${integration}`;
    for (const list of ['runs', 'chats', 'usage']) {
      assert.deepEqual((await own.api.get(`${below}/${list}`)).body.items, [], list);
    }
    assert.equal((await own.allowance(integration)).reserved, 0);
    broken = false;
    const { reader } = await own.answer(body);
    assert.equal(reader.headers['x-run-replayed'], undefined);
    assert.equal(own.controller.calls.length, 1);
  });
}
