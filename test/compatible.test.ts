import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ApiClient, openStream, STORES, type StoreName, type StreamReader } from '@runwire/test-kit';
import { scale } from '@runwire/test-kit/scale.ts';
import { cites } from '../requirements/cite.ts';
import { COMPATIBLE_CASES, type CompatibleCase, type StartedBy } from './support/compatible-cases.ts';
import { eventually } from './support/eventually.ts';
import { KillableServer } from './support/killable-server.ts';
import { refusal, ScriptedServer } from './support/scripted-server.ts';

/* What holds in every compatible API: header, status and code of an answer agree with the chat status that follows. */

const LIMIT_OF_ONE = { unit: 'runs', limit: 1, period: 'lifetime' };

const ACTIVE: ReadonlySet<string> = new Set(['admitted', 'running']);

const CHAT_COMPLETIONS = COMPATIBLE_CASES[0] as CompatibleCase;

let requests = 0;
const given = (more: Partial<StartedBy> = {}): StartedBy => {
  requests += 1;
  return { message: 'Hello', requestId: `request-${requests}`, consumerId: 'ann', chatId: null, ...more };
};

const open = (api: ApiClient, integration: string, by: CompatibleCase, started: StartedBy) =>
  openStream(`${api.url}/v2/integrations/${integration}${by.path}`, {
    method: 'POST',
    headers: { ...api.authorization, 'content-type': 'application/json', ...by.headers(started) },
    body: JSON.stringify(by.body(started)),
  });

const without = (headers: Readonly<Record<string, string>>, name: string) =>
  Object.fromEntries(Object.entries(headers).filter(([one]) => one !== name));

/** The refusal of a request. Hosts of MCP read it in the result of the tool. */
async function readRefusal(reader: StreamReader) {
  if (reader.status !== 200) return refusal(reader);
  await reader.over;
  const { result } = JSON.parse(/^data: (\{.*)$/m.exec(reader.text)?.[1] ?? '{}');
  const body = result._meta['runwire/error'];
  return { status: body.status, admitted: reader.headers['x-agent-run-admitted'], body };
}

/** The chat status of a request; the code of the refusal if there is none. */
async function readStatus(api: ApiClient, integration: string, by: CompatibleCase, started: StartedBy) {
  const id = encodeURIComponent(by.usageRequestId(started));
  const { body } = await api.get(`/v2/integrations/${integration}/chat_status?usageRequestId=${id}`);
  return { code: body.code as string | undefined, run: body.run };
}

// The gate has the first store: what differs between the stores is tested beside each API.
for (const store of scale(STORES.slice(0, 1), STORES)) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store });

  /** Sends a request that is refused. Returns its status, header and code, and the code of its chat status. */
  async function refused(integration: string, by: CompatibleCase, started: StartedBy, api = rig.api) {
    const answer = await readRefusal(await open(api, integration, by, started));
    const { code } = await readStatus(rig.api, integration, by, started);
    return [answer.status, answer.admitted, by.getCode(answer.body), code];
  }

  // Each kills a server in a process of its own.
  for (const by of scale(COMPATIBLE_CASES.slice(0, 1), COMPATIBLE_CASES)) {
    test(`${by.name}: a run whose server died before the first event is completed`, async (t) => {
      cites(t, 'compatible-20-killed');
      await using server = await KillableServer.start({ store, killAt: 'header.before' });
      await server.api.post('/v2/integrations', { apiIntegrationId: 'mine' });
      await server.api.put('/v2/integrations/mine/members/ann', {});
      const started = given();
      await assert.rejects(open(server.api, 'mine', by, started), 'the connection closes without a status');
      assert.equal(await server.process.gone, 'SIGKILL');
      await server.startAgain();
      const call = await server.controller.nextCall();
      await call.text('Done.');
      await call.end();
      const again = await open(server.api, 'mine', by, started);
      await again.over;
      assert.deepEqual([again.headers['x-run-replayed'], again.text.includes('Done.')], ['true', true]);
      const { run } = await readStatus(server.api, 'mine', by, started);
      assert.deepEqual([run.runId, run.status], [again.headers['x-run-id'], 'completed']);
      assert.equal((await server.api.get('/v2/integrations/mine/runs')).body.items.length, 1);
    });
  }

  for (const by of COMPATIBLE_CASES) {
    test(`${by.name}: a refused request reserves nothing and says so`, async (t) => {
      cites(t, 'compatible-20-refused');
      const integration = await rig.integration();
      const unknown = given();
      assert.deepEqual(await refused(integration, by, unknown), [404, 'false', 'member_not_found', 'run_not_found']);
      const foreigner = await rig.owner(`owner-${integration}@example.com`);
      const forbidden = [403, 'false', 'integration_forbidden', 'run_not_found'];
      assert.deepEqual(await refused(integration, by, given(), foreigner.api), forbidden);
      const metered = await rig.metered(LIMIT_OF_ONE);
      const first = given();
      const reader = await open(rig.api, metered, by, first);
      await (await rig.controller.nextCall()).end();
      await reader.over;
      const exhausted = [429, 'false', 'consumer_allowance_exhausted', 'run_not_found'];
      assert.deepEqual(await refused(metered, by, given()), exhausted);
      assert.equal((await rig.allowance(metered)).used, 1);
      assert.equal((await readStatus(rig.api, metered, by, first)).run.status, 'completed');
    });

    test(`${by.name}: an admitted run continues if its caller leaves at once`, async (t) => {
      cites(t, 'compatible-20-admitted');
      const integration = await rig.integration();
      await rig.member(integration, 'ann');
      const started = given();
      const reader = await open(rig.api, integration, by, started);
      const { 'x-agent-run-admitted': admitted, 'x-run-id': runId, 'x-chat-id': chatId } = reader.headers;
      reader.cut();
      assert.deepEqual([reader.status, admitted], [200, 'true']);
      const call = await rig.controller.nextCall();
      const { run } = await readStatus(rig.api, integration, by, started);
      assert.deepEqual([run.runId, ACTIVE.has(run.status)], [runId, true]);
      await call.text('Done.');
      await call.end();
      const ended = await eventually('the end', async () => {
        const now = await readStatus(rig.api, integration, by, started);
        return ACTIVE.has(now.run.status) ? null : now;
      });
      assert.deepEqual([ended.run.status, ended.run.message], ['completed', 'Done.']);
      const { body } = await rig.api.get(`/v2/integrations/${integration}/runs/${runId}`);
      assert.deepEqual([body.consumerId, encodeURIComponent(body.chatId)], ['ann', chatId]);
      const again = await open(rig.api, integration, by, started);
      await again.over;
      assert.deepEqual(
        [again.status, again.headers['x-run-id'], again.headers['x-run-replayed']],
        [200, runId, 'true'],
      );
    });

    test(`${by.name}: another member's equal request is no replay`, async (t) => {
      cites(t, 'compatible-20-same-request');
      const integration = await rig.integration();
      const tokens = new Map<string, string>();
      for (const consumerId of ['ann', 'bob']) {
        await rig.member(integration, consumerId);
        const { body } = await rig.api.post(`/v2/integrations/${integration}/client_tokens`, { consumerId });
        tokens.set(consumerId, body.clientToken);
      }
      const equal = given();
      const reader = await open(rig.api, integration, by, equal);
      await (await rig.controller.nextCall()).end();
      await reader.over;
      const reused = [400, 'false', 'usage_request_id_reused'];
      const ofBob = await readRefusal(await open(rig.api, integration, by, { ...equal, consumerId: 'bob' }));
      assert.deepEqual([ofBob.status, ofBob.admitted, by.getCode(ofBob.body)], reused);
      // Client tokens are not for hosts of MCP.
      if (by.path === '/mcp') return;
      const withoutHeader = { ...by, headers: (one: StartedBy) => without(by.headers(one), 'X-Runwire-Consumer-Id') };
      const asBob = await readRefusal(
        await open(rig.api.as(tokens.get('bob') as string), integration, withoutHeader, equal),
      );
      assert.deepEqual([asBob.status, asBob.admitted, by.getCode(asBob.body)], reused);
      assert.doesNotMatch(JSON.stringify(asBob.body), /run_/);
      const asAnn = await open(rig.api.as(tokens.get('ann') as string), integration, withoutHeader, equal);
      await asAnn.over;
      assert.deepEqual(
        [asAnn.headers['x-run-replayed'], asAnn.headers['x-run-id']],
        ['true', reader.headers['x-run-id']],
      );
    });

    if (by.namesChat) {
      test(`${by.name}: a busy chat is refused with the run that is active`, async (t) => {
        cites(t, 'compatible-20-busy');
        const integration = await rig.integration();
        await rig.member(integration, 'ann');
        const { runId, finish } = await holdChat(integration);
        const started = given({ chatId: 'c' });
        const answer = await readRefusal(await open(rig.api, integration, by, started));
        assert.deepEqual([answer.status, answer.admitted, by.getCode(answer.body)], [409, 'false', 'run_active']);
        assert.match(JSON.stringify(answer.body), new RegExp(runId));
        assert.equal((await readStatus(rig.api, integration, by, started)).code, 'run_not_found');
        const { body: chat } = await rig.api.get(`/v2/integrations/${integration}/chats/c`);
        assert.deepEqual([chat.status, chat.activeRunId], ['running', runId]);
        await finish();
      });
    }
  }

  test('a request that is too large or wrong in its parts is refused', async (t) => {
    cites(t, 'compatible-20-bounds');
    const integration = await rig.integration();
    const url = `${rig.api.url}/v2/integrations/${integration}/openai/v1/chat/completions`;
    const send = async (body: object, headers: Readonly<Record<string, string>> = {}) => {
      const sent = { ...rig.api.authorization, 'content-type': 'application/json', ...headers };
      const answer = await refusal(
        await openStream(url, { method: 'POST', headers: sent, body: JSON.stringify(body) }),
      );
      return [answer.status, answer.admitted, CHAT_COMPLETIONS.getCode(answer.body)];
    };
    const wrong = [400, 'false', 'invalid_request'];
    const user = (content: unknown) => ({ role: 'user', content });
    const inputImage = ({ image_url: { url } }: { image_url: { url: string } }) => ({
      type: 'input_image',
      image_url: url,
    });
    const images = Array.from({ length: 21 }, (_, index) => {
      return { type: 'image_url', image_url: { url: `https://example.com/${index}.png` } };
    });
    assert.deepEqual(await send({ messages: [user(images)] }), wrong);
    assert.deepEqual(await send({ messages: [user(images), user('Hello')] }), wrong);
    // A text and its answer are two items, and a turn's call and its output two more.
    const call = { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{}' } }] };
    const turn = [
      user('Hi'),
      call,
      { role: 'tool', tool_call_id: 'c', content: '1' },
      { role: 'assistant', content: 'Ho' },
    ];
    const many = (turns: number) => Array.from({ length: turns }, () => turn).flat();
    assert.deepEqual(await send({ messages: [...many(250), user('Hi'), user('Hello')] }), wrong);
    const path = `/v2/integrations/${integration}`;
    const items = [{ role: 'user', content: images.map(inputImage) }];
    assert.equal((await rig.api.post(`${path}/openai/v1/conversations`, { items })).status, 400);
    const state = { text: 'x'.repeat(256 * 1024) };
    const large = await rig.api.post(`${path}/ag-ui`, { threadId: 't', runId: 'r', messages: [user('Hello')], state });
    assert.equal(large.status, 400);
    assert.match(large.body.error, /^`state`, `context` and `forwardedProps` together must be at most 262144 bytes/);
    const response_format = { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 5 } } };
    assert.deepEqual(await send({ messages: [user('Hello')], response_format }), wrong);
    const nested = Buffer.from('['.repeat(65) + ']'.repeat(65)).toString('base64url');
    assert.deepEqual(await send({ messages: [user('Hello')] }, { 'X-Runwire-Context': nested }), wrong);
    assert.deepEqual((await rig.api.get(`/v2/integrations/${integration}/runs`)).body.items, []);
    // The items before the newest of a stored chat are not read.
    const accepted = [
      { messages: [...many(250), user('Hello')], chat: 'new' },
      { messages: [...many(251), user('Hello')], chat: 'new' },
    ];
    for (const { messages, chat } of accepted) {
      const headers = { 'X-Runwire-Chat-Id': chat };
      const answer = rig.api.call('POST', `${path}/openai/v1/chat/completions`, { messages }, headers);
      await (await rig.controller.nextCall()).end();
      assert.equal((await answer).status, 200);
    }
  });

  /** Holds the chat `c` busy. */
  async function holdChat(integration: string) {
    const held = await rig.hold({ apiIntegrationId: integration, consumerId: 'ann', chatId: 'c' });
    return { runId: held.runId, finish: () => held.finish('Ok.') };
  }
}
