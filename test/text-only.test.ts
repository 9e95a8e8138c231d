import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { TextOnly } from '../packages/server/src/http/encoders/text-only.ts';
import { cites } from '../requirements/cite.ts';
import { root } from './support/cli-process.ts';
import { until } from './support/eventually.ts';
import { jsonHead, RawConnection } from './support/raw-http.ts';
import { refusal, ScriptedServer } from './support/scripted-server.ts';

const server = ScriptedServer.shared();

/** The answer's text in the integration's log. */
async function logText(integration: string, runId: string): Promise<string> {
  const reader = await server.api.events(runId, null, integration);
  await reader.whole();
  return reader.answer;
}

test('a text-only integration streams the text and nothing else', async (t) => {
  cites(
    t,
    'contract-5-text-only',
    'contract-3-integration-text-only',
    'spec-4.1-text-plain',
    'spec-6-text-only',
    'contract-5-encoders',
  );
  const integration = await server.integration({ textOnly: true, agency: 'test' });
  assert.equal((await server.api.get(`/v2/integrations/${integration}`)).body.textOnly, true);
  const { reader, call, runId } = await server.hold({ apiIntegrationId: integration, chatId: 'é' });
  assert.equal(reader.status, 200);
  assert.equal(reader.headers['content-type'], 'text/plain; charset=utf-8');
  assert.equal(reader.headers['x-agent-run-admitted'], 'true');
  assert.equal(reader.headers['x-chat-id'], '%C3%A9');
  assert.equal(reader.headers['x-accel-buffering'], 'no');
  assert.equal(reader.headers['cache-control'], 'no-cache, no-transform');
  assert.equal(reader.text, '', 'the head came before the first word');
  await call.reasoning('Not for the reader.');
  const words = ['Grüße', ', 你好 ', '😀\n\n', 'data: no frame\n\n'];
  let said = '';
  for (const word of words) {
    await call.text(word);
    said += word;
    await reader.until(({ text }) => text === said);
  }
  await call.toolCall('call_1', 'echo', '{"hidden":true}');
  await call.end();
  const second = await server.controller.nextCall();
  await second.text('The end.');
  await second.end();
  assert.equal(await reader.over, true, 'it ended normally');
  assert.equal(reader.text, `${said}The end.`);
  assert.equal(reader.text, await logText(integration, runId));
});

test('half a character waits for its other half', async () => {
  const integration = await server.integration({ textOnly: true });
  const { reader, call, runId } = await server.hold({ apiIntegrationId: integration });
  await call.text('a\ud83d');
  await reader.until(({ text }) => text === 'a');
  await call.text('\ude00b');
  await reader.until(({ text }) => text === 'a😀b');
  await call.end();
  assert.equal(await reader.over, true);
  assert.equal(reader.text, await logText(integration, runId));
});

test('refusals are JSON, with their codes', async (t) => {
  cites(t, 'contract-5-text-only');
  const integration = await server.integration({ textOnly: true });
  const { reader, call } = await server.hold({ apiIntegrationId: integration, chatId: 'c' });
  const busy = await server.api.complete({ apiIntegrationId: integration, chatId: 'c' });
  assert.match(busy.headers['content-type'] ?? '', /^application\/json/);
  const { status, admitted, body } = await refusal(busy);
  assert.deepEqual([status, admitted, body.code], [409, 'false', 'run_active']);
  await call.end();
  assert.equal(await reader.over, true);
  assert.equal(reader.text, '', 'a completed answer may be empty');
});

test('an abnormal end over HTTP/1.0 is a reset, a normal end a close', async (t) => {
  cites(t, 'contract-5-text-only-end');
  const integration = await server.integration({ textOnly: true });
  for (const fails of [true, false]) {
    const body = JSON.stringify({ apiIntegrationId: integration, message: 'Hello' });
    const connection = new RawConnection(server.api.url);
    const error = new Promise<string | null>((resolve) => {
      connection.socket.on('error', (problem: NodeJS.ErrnoException) => resolve(problem.code ?? ''));
      connection.socket.on('close', () => resolve(null));
    });
    connection.send(jsonHead('POST /get_completion_v2', body.length).replace('HTTP/1.1', 'HTTP/1.0') + body);
    const call = await server.controller.nextCall();
    await call.text('Half');
    if (fails) await call.fail('model_error', 'The model broke.');
    else await call.end();
    assert.equal(await error, fails ? 'ECONNRESET' : null);
    assert.match(connection.text, /^HTTP\/1\.1 200 OK\r\n/);
    if (!fails) assert.ok(connection.text.endsWith('\r\n\r\nHalf'));
  }
});

test('a replay is the whole text, whatever `Last-Event-ID` and `Accept` are', async (t) => {
  cites(t, 'contract-5-text-only-replay', 'contract-5-text-only-accept');
  const integration = await server.integration({ textOnly: true });
  const body = { apiIntegrationId: integration, usageRequestId: 'again' };
  const { runId, reader } = await server.answer(body, 'All of it');
  assert.equal(reader.text, 'All of it');
  for (const headers of [{ 'last-event-id': '5' }, { accept: 'text/event-stream' }, { accept: 'application/json' }]) {
    const replay = await server.api.complete(body, headers);
    assert.equal(replay.headers['content-type'], 'text/plain; charset=utf-8');
    assert.equal(replay.headers['x-run-replayed'], 'true');
    assert.equal(replay.headers['x-run-id'], runId);
    assert.equal(await replay.over, true);
    assert.equal(replay.text, 'All of it');
  }
  const events = await server.api.events(runId, null, integration);
  assert.equal(events.headers['content-type'], 'text/event-stream; charset=utf-8');
  await events.whole();
  assert.equal(events.answer, 'All of it');
  const other = await server.integration();
  const held = await server.api.complete({ apiIntegrationId: other }, { accept: 'text/plain' });
  assert.equal(held.headers['content-type'], 'text/event-stream; charset=utf-8');
  await (await server.controller.nextCall()).end();
  await held.whole();
});

test('breaks off at `resumed` only if text that was sent is void', () => {
  const speaker = { agent: 'A', callerAgent: null, outputIndex: 0 };
  const item = { kind: 'message', id: 'msg_1', ...speaker, text: '', complete: false, timestamp: 0 } as const;
  const delta = (id: number, text: string) => ({ type: 'delta', item, text, id }) as const;
  const resumed = (discardAfter: number) =>
    ({ type: 'resumed', runId: 'run_1', attempt: 2, discardAfter, id: 1_000_000_001 }) as const;
  const read = (discardAfter: number) =>
    new TextOnly().page([delta(4, 'a'), delta(5, 'b'), resumed(discardAfter), delta(1_000_000_002, 'c')], 0, 0, 1000);
  assert.deepEqual(read(5), { data: 'abc', next: 4, cursor: 1_000_000_002, breaksOff: false });
  assert.deepEqual(read(4), { data: 'ab', next: 3, cursor: 1_000_000_001, breaksOff: true });
});

test('a slow reader of text is served from the log; a stuck one is cut', async (t) => {
  cites(t, 'contract-5-slow-reader');
  await using bounded = await ScriptedServer.start({ limits: { slowReaderMs: 5000, heartbeatMs: 1000 } });
  const integration = await bounded.integration({ textOnly: true });
  const body = { apiIntegrationId: integration, usageRequestId: 'slow' };
  const { reader, call } = await bounded.hold(body);
  reader.pause();
  const stuck = await bounded.api.complete(body);
  stuck.pause();
  const piece = 'x'.repeat(100_000);
  for (let i = 0; i < 200; i += 1) {
    await call.text(piece);
    // The reader pauses only until the server holds back. From then on it must read.
    if (bounded.server.server.probes.fullStreams() === 2) reader.resume();
  }
  await call.end();
  reader.resume();
  assert.equal(await reader.over, true);
  assert.equal(reader.text.length, 20_000_000);
  await until(() => bounded.server.server.probes.openStreams() === 0);
  stuck.resume();
  assert.equal(await stuck.over, false, 'it had not read for the whole time that it may take');
});

test('the docs name the proxy timeout to set for text', (t) => {
  cites(t, 'contract-5-text-only-docs');
  const page = readFileSync(join(root, 'docs/text-only.md'), 'utf8');
  const seconds = Number(/proxy_read_timeout (\d+)s/.exec(page)?.[1]);
  assert.ok(seconds > 900, 'longer than the longest run by default');
  assert.match(page, /proxy_http_version 1\.1/);
});
