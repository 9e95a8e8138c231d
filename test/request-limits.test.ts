import assert from 'node:assert/strict';
import dns from 'node:dns';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TEST_API_KEY } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { eventually } from './support/eventually.ts';
import { jsonHead, RawConnection } from './support/raw-http.ts';
import { ScriptedServer } from './support/scripted-server.ts';

const HOUR_MS = 3_600_000;

const head = (line: string, key = TEST_API_KEY, bytes = 1000) => jsonHead(line, bytes, key);
const COMPLETION = 'POST /get_completion_v2';

function isTimeout(answer: string, admitted: boolean): void {
  assert.match(answer, /^HTTP\/1\.1 408 /);
  assert.match(answer, /\r\nconnection: close\r\n/i);
  assert.match(answer, /\r\nx-request-id: \S+\r\n/i);
  assert.equal(/\r\nx-agent-run-admitted: false\r\n/i.test(answer), admitted);
  const { error, code } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
  assert.deepEqual([code, typeof error], ['request_timeout', 'string']);
}

test('a request that pauses too long is 408, or closed if answered', async (t) => {
  cites(t, 'contract-4-limit-request-time', 'contract-4-limit-discarded-body', 'contract-8-408-request-timeout');
  await using server = await ScriptedServer.start({ limits: { requestIdleMs: 300, requestMs: HOUR_MS } });
  const { url } = server.server;
  const connection = () => new RawConnection(url);
  const [body, member, headers, refused] = [connection(), connection(), connection(), connection()];
  body.send(`${head(COMPLETION)}{"apiIntegrationId":`);
  member.send(`${head('PUT /v2/integrations/demo/members/ann')}{"name":`);
  headers.send('POST /get_comp');
  refused.send(`${head(COMPLETION, 'nobody')}{`);
  isTimeout(await body.closed, true);
  isTimeout(await member.closed, false);
  isTimeout(await headers.closed, true);
  assert.match(await refused.closed, /^HTTP\/1\.1 401 [\s\S]*"invalid_api_key"\}$/, 'nothing follows the answer');
  const held = await server.hold({});
  const streaming = connection();
  streaming.send(`${head(`GET /v2/integrations/demo/runs/${held.runId}/events`)}{`);
  assert.match(await streaming.closed, /^HTTP\/1\.1 200 (?![\s\S]*HTTP\/1\.1)/, 'closed in the middle of its answer');
  assert.equal(server.server.server.probes.heldBodyBytes(), 0);
  // A connection that is kept after a whole request, and a run that is silent, are not cut.
  const kept = connection();
  kept.send('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
  await eventually('it is answered', async () => kept.text.includes('"ok"'));
  await sleep(1000);
  kept.send('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  assert.equal((await kept.closed).match(/HTTP\/1\.1 200/g)?.length, 2);
  await held.call.end();
  assert.equal((await held.reader.whole()).at(-1)?.event, 'end');
});

test('a request that arrives too slowly is 408, or closed if answered', async (t) => {
  cites(t, 'contract-4-limit-request-time', 'contract-4-limit-discarded-body', 'contract-4-limit-upload-time');
  const limits = { requestMs: 1500, requestIdleMs: 5000, uploadIdleMs: 5000 };
  await using server = await ScriptedServer.start({ limits });
  const [body, headers, refused, upload] = Array.from({ length: 4 }, () => new RawConnection(server.server.url));
  body?.send(`${head(COMPLETION)}{"apiIntegrationId":"`);
  headers?.send('GET /healthz HTTP/1.1\r\nhost: ');
  refused?.send(`${head(COMPLETION, 'nobody')}{`);
  const form = 'content-type: multipart/form-data; boundary=b\r\ncontent-length: 1000\r\n\r\n--b\r\n';
  upload?.send(`POST /uploads/demo HTTP/1.1\r\nhost: x\r\n${form}`);
  isTimeout((await body?.drip()) ?? '', true);
  isTimeout((await headers?.drip()) ?? '', true);
  assert.match((await refused?.drip()) ?? '', /^HTTP\/1\.1 401 [\s\S]*"invalid_api_key"\}$/);
  assert.match((await upload?.closed) ?? '', /^HTTP\/1\.1 400 [\s\S]*<Code>RequestTimeout<\/Code>/);
});

test('only a form that is being received has the limits of uploads', async (t) => {
  cites(t, 'contract-4-limit-discarded-body', 'contract-4-limit-upload-time');
  await using server = await ScriptedServer.start({ limits: { requestMs: 3000, requestIdleMs: 3000 } });
  const refused = (target: string, host: string) => {
    const connection = new RawConnection(server.server.url);
    connection.send(`${target} HTTP/1.1\r\n${host}content-length: 1000000\r\n\r\n`);
    return connection.drip();
  };
  const answers = await Promise.all([
    refused('OPTIONS /uploads/demo', 'host: x\r\n'),
    refused('PUT /uploads/demo', 'host: x\r\n'),
    refused('POST /uploads/%zz', 'host: x\r\n'),
    refused('POST /uploads/demo', 'host: x\r\nhost: y\r\n'),
  ]);
  assert.deepEqual(
    answers.map((answer) => answer.slice(9, 12)),
    ['200', '405', '400', '400'],
  );
});

test('a request with pauses that ends in time is served', async (t) => {
  cites(t, 'contract-4-limit-request-time');
  await using server = await ScriptedServer.start({ limits: { requestMs: 60_000, requestIdleMs: 30_000 } });
  server.controller.answerAll('Hi');
  const slow = new RawConnection(server.server.url);
  const body = JSON.stringify({ apiIntegrationId: 'demo', message: 'Hello' });
  slow.send(head(COMPLETION, TEST_API_KEY, Buffer.byteLength(body)).replace('host: x', 'host: x\r\nconnection: close'));
  for (const character of body) {
    slow.send(character);
    await sleep(5);
  }
  assert.match(await slow.closed, /^HTTP\/1\.1 200 [\s\S]*event: end/);
});

test('a server at localhost has one address, with deadlines', async (t) => {
  cites(t, 'contract-4-limit-request-time');
  // Most machines have ::1 as the second address; every Linux has 127.0.0.2.
  const lookup = dns.lookup as (host: string, ...rest: unknown[]) => void;
  t.mock.method(dns, 'lookup', (host: string, ...rest: unknown[]) => {
    const [options, done] = rest as [{ all?: boolean }, (error: null, addresses: object[]) => void];
    if (host !== 'localhost' || options.all !== true) return lookup(host, ...rest);
    done(null, [
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
    ]);
  });
  const env = { HOST: 'localhost' };
  await using server = await ScriptedServer.start({ env, limits: { requestIdleMs: 300, requestMs: HOUR_MS } });
  const [first, second] = [new RawConnection(server.server.url), new RawConnection(server.server.url, '127.0.0.2')];
  for (const connection of [first, second]) connection.send(`${head(COMPLETION)}{"apiIntegrationId":`);
  isTimeout(await first.closed, true);
  assert.equal(await second.closed, '', 'nothing listens there');
});
