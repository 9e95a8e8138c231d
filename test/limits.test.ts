import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { hookStore, STORES, type StoreName, type StreamReader, startTestServer, TEST_API_KEY } from '@runwire/test-kit';
import { DEFAULT_LIMITS } from '../packages/server/src/config/limits.ts';
import { readConfig } from '../packages/server/src/config/read-config.ts';
import { cites } from '../requirements/cite.ts';
import { messagesFrame, refusal, ScriptedServer } from './support/scripted-server.ts';

const MEBIBYTE = 1024 * 1024;

test('each limit has the default of the contract and a setting', (t) => {
  cites(
    t,
    'contract-4-limits-settings',
    'contract-4-limit-body',
    'contract-4-limit-request-time',
    'contract-4-limit-message',
    'contract-4-limit-attachment',
    'contract-4-limit-user-context',
    'contract-4-limit-values',
    'contract-4-limit-run-time',
    'contract-4-limit-silence',
    'contract-4-limit-steps',
    'contract-4-limit-active-runs',
  );
  const settings = {
    RUNWIRE_MAX_BODY_BYTES: ['bodyBytes', 32 * MEBIBYTE, '2048', 2048],
    RUNWIRE_MAX_REQUEST_SECONDS: ['requestMs', 120_000, '7', 7000],
    RUNWIRE_MAX_REQUEST_IDLE_SECONDS: ['requestIdleMs', 20_000, '7', 7000],
    RUNWIRE_MAX_MESSAGE_CHARACTERS: ['messageCharacters', 1_000_000, '7', 7],
    RUNWIRE_MAX_USER_CONTEXT_BYTES: ['userContextBytes', 256 * 1024, '7', 7],
    RUNWIRE_MAX_IMAGE_BYTES: ['imageBytes', 20 * MEBIBYTE, '7', 7],
    RUNWIRE_MAX_ATTACHMENT_BYTES: ['attachmentBytes', 20 * MEBIBYTE, '134217728', 128 * MEBIBYTE],
    RUNWIRE_MAX_ATTACHMENT_SECONDS: ['attachmentMs', 30_000, '7', 7000],
    RUNWIRE_MAX_ATTACHMENT_PAGES: ['attachmentPages', 500, '7', 7],
    RUNWIRE_MAX_ATTACHMENT_CHARACTERS: ['attachmentCharacters', 200_000, '7', 7],
    RUNWIRE_MAX_CONVERSION_SECONDS: ['conversionMs', 30_000, '7', 7000],
    RUNWIRE_MAX_BODY_VALUES: ['bodyValues', 10_000, '200', 200],
    RUNWIRE_MAX_RUN_SECONDS: ['maxRunSeconds', 15 * 60, '7', 7],
    RUNWIRE_MAX_SILENCE_SECONDS: ['modelSilenceMs', 120_000, '7', 7000],
    RUNWIRE_MAX_STEPS: ['stepsPerRun', 50, '7', 7],
    RUNWIRE_MAX_ATTEMPTS: ['maxAttempts', 3, '7', 7],
    RUNWIRE_RESERVE_TOKENS: ['reserveTokens', 1000, '0', 0],
    RUNWIRE_MAX_ACTIVE_RUNS: ['activeRuns', 2000, '7', 7],
    RUNWIRE_MAX_STREAMS_PER_MEMBER: ['streamsPerMember', 20, '7', 7],
    RUNWIRE_MAX_STREAMS_PER_KEY: ['streamsPerKey', 500, '7', 7],
    RUNWIRE_MAX_STREAMS_PER_OWNER: ['streamsPerOwner', 1000, '7', 7],
    RUNWIRE_DRAIN_SECONDS: ['drainMs', 30_000, '0', 0],
    RUNWIRE_HAND_OVER_SECONDS: ['handOverMs', 30_000, '0', 0],
    RUNWIRE_MOUNT_QUOTA_BYTES: ['mountQuotaBytes', 10 * 1024 * MEBIBYTE, '10995116277760', 10_995_116_277_760],
    RUNWIRE_MEMBER_QUOTA_BYTES: ['memberQuotaBytes', 1024 * MEBIBYTE, '0', 0],
    RUNWIRE_ERASE_REWRITE_MINUTES: ['eraseRewriteMs', 600_000, '0', 0],
  } as const;
  for (const [name, [limit, byDefault, text, value]] of Object.entries(settings)) {
    assert.equal(readConfig({}).config.limits[limit], byDefault, name);
    assert.deepEqual(readConfig({ [name]: text }).config.limits, { ...DEFAULT_LIMITS, [limit]: value });
  }
  assert.deepEqual([DEFAULT_LIMITS.disconnectMs, DEFAULT_LIMITS.bodiesBytes], [10_000, 256 * MEBIBYTE]);
  assert.equal(DEFAULT_LIMITS.attachmentsBytes, 256 * MEBIBYTE);
});

/** Returns an answer's status. Cuts the stream of a completion that was admitted. */
async function getStatus(reader: StreamReader): Promise<number> {
  if (reader.status === 200) reader.cut();
  return reader.status;
}

/** Sends a part of a body. */
function upload(url: string) {
  const sent = request(`${url}/get_completion_v2`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${TEST_API_KEY}`, 'content-type': 'application/json' },
  });
  sent.on('error', () => {});
  const answer = new Promise<{ status: number; admitted: unknown; retryAfter: unknown }>((resolve) => {
    // An answer that arrives while the body is still being sent can be lost with the connection.
    sent.on('close', () => resolve({ status: 0, admitted: null, retryAfter: null }));
    sent.on('response', (message) => {
      message.resume();
      const { 'x-agent-run-admitted': admitted, 'retry-after': retryAfter } = message.headers;
      resolve({ status: message.statusCode ?? 0, admitted, retryAfter });
    });
  });
  return { sent, answer };
}

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('a run over its time ends as run_timeout, its partial text is charged', async (t) => {
    cites(t, 'contract-4-limit-run-time', 'contract-8-stream-run-timeout', 'contract-3-integration-run-limits');
    await using server = await ScriptedServer.start({ store, env: { RUNWIRE_MAX_RUN_SECONDS: '2' } });
    assert.equal((await server.api.get('/v2/integrations/demo')).body.maxRunSeconds, 2, 'the setting counts');
    const allowances = { unit: 'tokens', limit: 100_000, period: 'lifetime' };
    const brief = await server.metered(allowances, { maxRunSeconds: 1 });
    const long = await server.integration({ maxRunSeconds: 600 });
    const unset = await server.integration({ maxRunSeconds: 600 });
    const seconds = async (change: object) =>
      (await server.api.patch(`/v2/integrations/${unset}`, change)).body.maxRunSeconds;
    assert.equal(await seconds({ name: 'As it was' }), 600);
    assert.equal(await seconds({ maxRunSeconds: null }), 2, 'null: as the setting says');
    assert.equal(await seconds({ name: 'Still unset' }), 2);
    const never = await server.api.post('/v2/integrations', { maxRunSeconds: null });
    assert.deepEqual([never.status, never.body.maxRunSeconds], [201, 2]);
    const patient = await server.hold({ apiIntegrationId: long });
    const back = await server.hold({ apiIntegrationId: unset });
    const bySetting = await server.hold({});
    const { reader, call } = await server.hold({ apiIntegrationId: brief, consumerId: 'ann', usageRequestId: 'u' });
    await call.text('Half a word');
    await reader.whole();
    await call.closed;
    const { status, error, usage } = messagesFrame(reader);
    assert.deepEqual([status, error.code], ['failed', 'run_timeout']);
    assert.match(error.message, /of 1 s;/);
    assert.equal(reader.answer, 'Half a word');
    const allowance = await server.allowance(brief);
    assert.ok(usage.total_tokens > 0);
    assert.deepEqual([allowance.used, allowance.reserved], [usage.total_tokens, 0]);
    await bySetting.reader.whole();
    assert.equal(messagesFrame(bySetting.reader).error.code, 'run_timeout');
    await back.reader.whole();
    assert.equal(messagesFrame(back.reader).error.code, 'run_timeout', 'and no longer as the integration said');
    await patient.finish();
    assert.equal(messagesFrame(patient.reader).status, 'completed');
  });

  test('limits the concurrent runs of a member as the integration asks', async (t) => {
    cites(t, 'contract-4-limit-member-runs', 'contract-8-429-too-many-runs', 'contract-4-order-too-many-runs');
    await using server = await ScriptedServer.start({ store });
    const integration = await server.integration({ maxRunsPerMember: 2 });
    await server.member(integration, 'ann');
    await server.member(integration, 'bob');
    const of = (consumerId: string, fields = {}) => ({ apiIntegrationId: integration, consumerId, ...fields });
    const first = await server.hold(of('ann', { usageRequestId: 'u1' }));
    const second = await server.hold(of('ann'));
    const refused = await refusal(await server.api.complete(of('ann', { usageRequestId: 'u3' })));
    assert.deepEqual(
      [refused.status, refused.admitted, refused.retryAfter, refused.body.code],
      [429, 'false', '1', 'too_many_runs'],
    );
    const replay = await server.api.complete(of('ann', { usageRequestId: 'u1' }));
    assert.equal(replay.headers['x-run-replayed'], 'true');
    const other = await server.hold(of('bob'));
    await first.finish();
    const third = await server.hold(of('ann', { usageRequestId: 'u3' }));
    for (const held of [second, third, other]) await held.finish();
    await server.api.patch(`/v2/integrations/${integration}`, { maxRunsPerMember: null });
    const many = [];
    for (let i = 0; i < 5; i += 1) many.push(await server.hold(of('ann')));
    for (const held of many) await held.finish();
  });

  test('a full node answers 503 and reserves nothing; replays are still served', async (t) => {
    cites(t, 'contract-4-limit-active-runs', 'contract-8-503-unavailable', 'contract-4-order-load');
    // Ten requests reach their transaction in the same turn, so all are decided before one is started.
    const together = Promise.withResolvers<void>();
    let waiting = -1;
    const wrapStore = hookStore({
      transact: async (name, transact) => {
        if (name === 'admit' && waiting >= 0) {
          waiting += 1;
          if (waiting === 10) together.resolve();
          await together.promise;
        }
        return transact();
      },
    });
    await using server = await ScriptedServer.start({ store, env: { RUNWIRE_MAX_ACTIVE_RUNS: '3' }, wrapStore });
    const held = await server.hold({ usageRequestId: 'first', chatId: 'c' });
    waiting = 0;
    const readers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => server.api.complete({ usageRequestId: `u${i}` })),
    );
    const full = readers.filter(({ status }) => status !== 200);
    assert.equal(full.length, 8);
    for (const reader of full) {
      const { status, admitted, retryAfter, body } = await refusal(reader);
      assert.deepEqual([status, admitted, retryAfter, body.code], [503, 'false', '1', 'unavailable']);
    }
    assert.equal((await server.api.get('/v2/integrations/demo/runs')).body.items.length, 3);
    const replay = await server.api.complete({ usageRequestId: 'first', chatId: 'c' });
    assert.equal(replay.headers['x-run-replayed'], 'true');
    // The load is checked before the busy chat, and after the request itself.
    assert.equal((await refusal(await server.api.complete({ chatId: 'c' }))).body.code, 'unavailable');
    assert.equal((await refusal(await server.api.complete({ agent: 'Nobody' }))).body.code, 'unknown_agent');
    await held.finish();
    await server.controller.nextCall();
    await server.controller.nextCall();
    const next = await server.hold({});
    await next.finish();
  });
}

test('sizes at their edges: body, message, user_context and values', async (t) => {
  cites(
    t,
    'contract-4-limit-body',
    'contract-4-limit-message',
    'contract-4-limit-user-context',
    'contract-4-limit-values',
  );
  const env = {
    RUNWIRE_MAX_BODY_BYTES: '4096',
    RUNWIRE_MAX_MESSAGE_CHARACTERS: '10',
    RUNWIRE_MAX_USER_CONTEXT_BYTES: '20',
    RUNWIRE_MAX_BODY_VALUES: '100',
  };
  await using server = await startTestServer({ env });
  const { api } = server;
  const empty = Buffer.byteLength(JSON.stringify({ apiIntegrationId: 'demo', message: 'Hello', extra: '' }));
  const edges: readonly (readonly [object, object, string])[] = [
    [{ extra: 'x'.repeat(4096 - empty) }, { extra: 'x'.repeat(4097 - empty) }, 'body_too_large'],
    [{ message: '😀'.repeat(10) }, { message: '😀'.repeat(11) }, 'invalid_request'],
    [{ user_context: 'é'.repeat(9) }, { user_context: `${'é'.repeat(9)}x` }, 'invalid_request'],
    [{ user_context: { a: '012345678901' } }, { user_context: { a: '0123456789012' } }, 'invalid_request'],
    [{ extra: Array(97).fill(0) }, { extra: Array(98).fill(0) }, 'invalid_request'],
  ];
  for (const [within, beyond, code] of edges) {
    assert.equal(await getStatus(await api.complete({ ...within })), 200, JSON.stringify(within).slice(0, 100));
    const { status, admitted, body } = await refusal(await api.complete({ ...beyond }));
    assert.deepEqual([status, admitted, body.code], [400, 'false', code]);
  }
  const { body: description } = await api.get('/openapi.json');
  const { properties } = description.components.schemas.GetCompletionV2Request;
  assert.equal(properties.message.maxLength, 10);
});

test('a silent model ends the run as model_timeout; a slow tool does not', async (t) => {
  cites(t, 'contract-4-limit-silence', 'contract-8-stream-model-timeout');
  const { defineAgency, defineAgent, defineTool } = await import('@runwire/agency');
  const slow = defineTool({
    name: 'slow',
    description: 'Takes its time.',
    inputSchema: { type: 'object' },
    execute: () => sleep(4000, 'done'),
  });
  const agent = defineAgent({ name: 'Clerk', description: 'Waits.', instructions: 'Wait.', tools: [slow] });
  await using server = await ScriptedServer.start({
    env: { RUNWIRE_MAX_SILENCE_SECONDS: '2' },
    agencies: { slow: defineAgency({ name: 'Slow', agents: [agent] }) },
  });
  const silent = await server.hold({});
  const halfway = await server.hold({});
  await halfway.call.text('Half');
  for (const { reader, call } of [silent, halfway]) {
    await reader.whole();
    await call.closed;
    assert.equal(messagesFrame(reader).error.code, 'model_timeout');
  }
  assert.equal(halfway.reader.answer, 'Half');
  const speaking = await server.hold({});
  for (let i = 0; i < 10; i += 1) {
    await speaking.call.text('word ');
    await sleep(300);
  }
  await speaking.finish();
  assert.equal(messagesFrame(speaking.reader).status, 'completed');
  const tooled = await server.hold({ apiIntegrationId: await server.integration({ agency: 'slow' }) });
  await tooled.call.toolCall('call_1', 'slow', '{}');
  await tooled.call.end();
  const second = await server.controller.nextCall();
  await second.end();
  await tooled.reader.whole();
  assert.equal(messagesFrame(tooled.reader).status, 'completed');
});

test('bodies over the shared budget are refused with 503 until one is done', async () => {
  await using server = await startTestServer({ limits: { bodiesBytes: 3 * MEBIBYTE } });
  const good = JSON.stringify({ apiIntegrationId: 'demo', message: 'Hi', extra: 'x'.repeat(2 * MEBIBYTE) });
  let first = upload(server.url);
  for (;;) {
    await new Promise<void>((resolve) => first.sent.write(good.slice(0, -1), () => resolve()));
    const second = upload(server.url);
    second.sent.end(good);
    const answer = await second.answer;
    second.sent.destroy();
    if (answer.status !== 200 && answer.status !== 0) {
      assert.deepEqual(answer, { status: 503, admitted: 'false', retryAfter: '1' });
      break;
    }
    // The key of the second request was found first, so it got the place and the first request is refused.
    first.sent.destroy();
    first = upload(server.url);
  }
  first.sent.destroy();
  for (;;) {
    const third = upload(server.url);
    third.sent.end(good);
    const { status } = await third.answer;
    third.sent.destroy();
    if (status === 200) break;
    // The server has not noticed the end of the first request yet.
    assert.ok(status === 503 || status === 0, `${status}`);
    await sleep(20);
  }
});
