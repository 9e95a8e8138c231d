import assert from 'node:assert/strict';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, fenceServers, fullTest, STORES, type StoreName } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { CliServer, getFolder } from './support/cli-process.ts';
import { KillableServer } from './support/killable-server.ts';
import { onOpenConnection } from './support/open-connection.ts';
import { messagesFrame, refusal } from './support/scripted-server.ts';

/** Far above the time that an immediate end takes here, and below the 30 s that runs may continue. */
const AT_ONCE_MS = 20_000;

/** Resolves when the server has received the signal, which was sent before. */
async function draining(api: ApiClient): Promise<void> {
  // The server may close a kept connection while a request is being sent on it.
  const status = () =>
    api.get('/readyz').then(
      (answer) => answer.status,
      () => 0,
    );
  while ((await status()) !== 503) await sleep(20);
}

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

/** Opens a connection without sending a request. */
async function connected(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  return socket;
}

/** Sends a request on it, and resolves to the answer's head. */
async function asked(socket: Socket): Promise<string> {
  socket.write(HEALTH);
  return String(await new Promise<Buffer>((resolve) => socket.once('data', resolve)));
}

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('refuses new runs after SIGTERM while streams continue to their end', async (t) => {
    cites(t, 'contract-8-503-shutting-down', 'contract-4-order-load', 'contract-3-health');
    await using server = await KillableServer.start({ store });
    const { api } = server;
    const body = { usageRequestId: 'u1', chatId: 'c1' };
    const { reader, call } = await server.hold(body);
    const idle = await connected(server.process.url);
    const idleClosed = new Promise<void>((resolve) => idle.once('close', () => resolve()));
    await asked(idle);
    const fresh = await connected(server.process.url);
    process.kill(server.process.pid, 'SIGTERM');
    await draining(api);
    await idleClosed;
    assert.match(await asked(fresh), /^HTTP\/1.1 200 /, 'whoever has connected and not asked yet is answered');
    assert.equal((await onOpenConnection(() => api.get('/healthz'))).status, 200, 'it lives');
    const { status, admitted, retryAfter, body: said } = await refusal(await api.complete({ usageRequestId: 'u2' }));
    assert.deepEqual([status, admitted, retryAfter, said.code], [503, 'false', '1', 'shutting_down']);
    assert.equal(
      (await refusal(await api.complete({ chatId: 'c1' }))).body.code,
      'shutting_down',
      'before the busy chat',
    );
    assert.equal((await refusal(await api.complete({ agent: 'Nobody' }))).body.code, 'unknown_agent');
    const replay = await api.complete(body);
    assert.deepEqual([replay.status, replay.headers['x-run-replayed']], [200, 'true']);
    for (const word of ['Going ', 'on']) {
      await call.text(word);
      await Promise.all([reader.untilText(word), replay.untilText(word)]);
    }
    await call.end();
    await Promise.all([reader.whole(), replay.whole()]);
    for (const stream of [reader, replay]) assert.equal(messagesFrame(stream).status, 'completed');
    assert.equal(await server.process.gone, null, 'then it ended by itself');
    await server.startAgain();
    const { body: missing } = await server.api.get('/v2/integrations/demo/chat_status?usageRequestId=u2');
    assert.equal(missing.code, 'run_not_found');
  });

  test('the end of the drain cuts a stream without `end`; the next start resumes', async (t) => {
    cites(t, 'contract-5-meta-once', 'contract-5-resumed');
    await using server = await KillableServer.start({ store, env: { RUNWIRE_DRAIN_SECONDS: '1' } });
    await server.metered();
    const body = { apiIntegrationId: 'mine', consumerId: 'ann', usageRequestId: 'u1', chatId: 'c1' };
    const { reader, call, runId } = await server.hold(body);
    await call.text('Half');
    await reader.untilText('"Half"');
    await server.process.kill('SIGTERM');
    assert.equal(await server.process.gone, null, 'it ended by itself');
    assert.equal(await reader.over, false, 'the answer did not come whole');
    assert.ok(!reader.text.includes('event: messages') && !reader.text.includes('event: end'));
    await call.closed;

    // A normal stop does not count as a crash.
    await server.startAgain({ limits: { maxAttempts: 1 } });
    const again = await server.controller.nextCall();
    const { body: status } = await server.api.get('/v2/integrations/mine/chat_status?usageRequestId=u1');
    assert.deepEqual([status.status, status.run.status, status.run.attempt], ['running', 'running', 2]);
    const rest = await server.api.events(runId, reader.frames.at(-1)?.id ?? 0, 'mine');
    await again.text('Whole');
    await again.end();
    const frames = await rest.whole();
    assert.deepEqual([frames[0]?.event, JSON.parse(frames[0]?.data ?? '{}').discard_after], ['resumed', 1]);
    assert.deepEqual([messagesFrame(rest).status, rest.answer], ['completed', 'Whole']);
    const { body: member } = await server.api.get('/v2/integrations/mine/members/ann');
    const [record] = (await server.api.get('/v2/integrations/mine/usage')).body.items;
    assert.equal(record.usage.request_count, 2, 'what was said and is void was used too');
    assert.deepEqual([member.allowance.used, member.allowance.reserved], [record.usage.total_tokens, 0]);
    const next = await server.hold({ ...body, usageRequestId: 'u2' });
    await next.call.end();
    await next.reader.whole();
    assert.equal(messagesFrame(next.reader).status, 'completed');
  });
}

fullTest('at SIGTERM an answer that is written whole but not read yet is not cut', async () => {
  // The server writes everything to the connection immediately, far more than the kernel holds.
  await using server = await KillableServer.start({ limits: { unsentBytes: Number.MAX_SAFE_INTEGER } });
  const { reader, call } = await server.hold({ usageRequestId: 'u1', chatId: 'c1' });
  reader.pause();
  for (let i = 0; i < 20; i += 1) await call.text('x'.repeat(1_000_000));
  await call.end();
  while ((await server.process.probe()).activeRuns > 0) await sleep(20);
  process.kill(server.process.pid, 'SIGTERM');
  await draining(server.api);
  // At least one more round of the drain.
  assert.equal((await server.api.complete({ usageRequestId: 'u2' })).status, 503);
  reader.resume();
  assert.equal(await reader.over, true, 'it came whole');
  assert.equal(messagesFrame(reader).status, 'completed');
  assert.equal(await server.process.gone, null);
});

test('every answer in a drain closes its connection', async () => {
  await using server = await KillableServer.start();
  const { call, reader } = await server.hold({ usageRequestId: 'u1' });
  process.kill(server.process.pid, 'SIGTERM');
  await draining(server.api);
  // On its own connection, which the client wants to keep and the server closes.
  const agent = new Agent({ keepAlive: true });
  const answered = async (method: string, path: string, body?: string) => {
    const headers = { ...server.api.authorization, 'content-type': 'application/json' };
    const sent = request(server.process.url + path, { method, headers, agent });
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.on('response', resolve).on('error', reject).end(body);
    });
    message.resume();
    return [message.statusCode, message.headers.connection];
  };
  assert.deepEqual(await answered('GET', '/healthz'), [200, 'close']);
  assert.deepEqual(await answered('GET', '/readyz'), [503, 'close']);
  const body = JSON.stringify({ apiIntegrationId: 'demo', message: 'Hi' });
  assert.deepEqual(await answered('POST', '/get_completion_v2', body), [503, 'close']);
  assert.deepEqual(await answered('POST', '/get_completion_v2', '{'), [400, 'close']);
  agent.destroy();
  await call.end();
  await reader.whole();
});

test('a drain exits with 0; a second SIGTERM ends it immediately', async (t) => {
  const key = 'a-key-of-my-own-0123456789-0123456789';
  const dataDir = getFolder(t);
  const env = { RUNWIRE_DATA_DIR: dataDir, RUNWIRE_API_KEY: key };
  {
    await using server = await CliServer.start({ env });
    const api = server.api(key);
    const reader = await api.complete({ message: '/slow 2' });
    await reader.untilText('output_text.delta');
    const { code, signal, stdout } = await server.stop();
    assert.deepEqual([code, signal], [0, null]);
    assert.match(stdout, /a second signal ends the process immediately/);
    await reader.whole();
    assert.equal(messagesFrame(reader).status, 'completed');
  }
  await using server = await CliServer.start({ env });
  const api = server.api(key);
  const reader = await api.complete({ message: '/slow 600', usageRequestId: 'long' });
  await reader.untilText('output_text.delta');
  process.kill(server.pid, 'SIGTERM');
  await draining(api);
  const before = performance.now();
  const { code, signal } = await server.stop();
  assert.deepEqual([code, signal], [0, null]);
  assert.ok(performance.now() - before < AT_ONCE_MS);
  assert.equal(await reader.over, false);
  assert.ok(!reader.text.includes('event: end'));
  await fenceServers(dataDir);
  await using next = await CliServer.start({ env });
  const { body } = await next.api(key).get('/v2/integrations/demo/chat_status?usageRequestId=long');
  assert.deepEqual([body.status, body.run.attempt, body.run.error], ['running', 2, null]);
});

test('SIGTERM ends an idle server immediately, also with open connections', async () => {
  await using server = await KillableServer.start();
  const health = await server.api.get('/healthz');
  assert.equal(health.status, 200);
  const unused = await connected(server.process.url);
  const before = performance.now();
  await server.process.kill('SIGTERM');
  assert.ok(performance.now() - before < AT_ONCE_MS);
  unused.destroy();
  assert.equal(await server.process.gone, null);
  await assert.rejects(server.api.get('/healthz'));
});
