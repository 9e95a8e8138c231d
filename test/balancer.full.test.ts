import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ApiClient,
  ModelController,
  migratedDatabase,
  ServerProcess,
  TEST_API_KEY,
  withoutComments,
} from '@runwire/test-kit';
import { BreakingNode, balancerConfiguration } from './support/balancer.ts';
import { getFolder } from './support/cli-process.ts';
import { Nginx } from './support/nginx.ts';
import { missingServices } from './support/services.ts';

/* These tests run a real nginx with deploy/nginx.conf. */

const missing = (await missingServices(['nginx', 'postgres'])).join('\n');
const skip = missing === '' ? false : missing;

/** The address of a node that is gone: no server listens there. */
async function nowhere(): Promise<string> {
  await using node = await BreakingNode.start();
  return node.url;
}

test('streams pass token by token from two nodes while a third is gone', { skip }, async (t) => {
  await using database = await migratedDatabase();
  await using controller = await ModelController.start();
  const env = { DATABASE_URL: database.url };
  const dataDir = getFolder(t);
  const start = () => ServerProcess.start({ dataDir, controllerPort: controller.port, env });
  await using first = await start();
  await using second = await start();
  await using nginx = await Nginx.startWith(balancerConfiguration([first.url, second.url, await nowhere()]));
  const api = new ApiClient(nginx.url, TEST_API_KEY);
  assert.deepEqual((await api.get('/readyz')).body, { status: 'ok', store: 'postgres', sandbox: { kind: 'off' } });
  const runs: string[] = [];
  for (let n = 0; n < 6; n += 1) {
    const reader = await api.complete({ usageRequestId: `u${n}` });
    assert.equal(reader.headers['x-agent-run-admitted'], 'true');
    const call = await controller.nextCall();
    for (const token of ['one ', 'two ', 'three ']) {
      await call.text(token);
      // The model sends the next token only after this one has arrived, so a buffer in between would wait for ever.
      await reader.untilText(token);
    }
    await call.end();
    assert.equal((await reader.whole()).at(-1)?.event, 'end');
    assert.ok(await reader.over);
    runs.push(reader.text);
  }
  for (const node of [first, second]) {
    const { body } = await node.api.get('/metrics');
    assert.match(body, /runwire_admissions_total\{outcome="admitted"\} [1-5]\n/, 'each took some of them');
  }
  // A repeated request reaches any node, and gets the same run.
  for (const [n, text] of runs.entries()) {
    const again = await api.complete({ usageRequestId: `u${n}` });
    assert.equal(again.headers['x-run-replayed'], 'true');
    await again.whole();
    assert.equal(withoutComments(again.text), withoutComments(text));
  }
});

test('Runwire, not nginx, refuses a body that is too large', { skip }, async (t) => {
  await using database = await migratedDatabase();
  await using node = await ServerProcess.start({ dataDir: getFolder(t), env: { DATABASE_URL: database.url } });
  await using nginx = await Nginx.startWith(balancerConfiguration([node.url, node.url, node.url]));
  const reader = await new ApiClient(nginx.url, TEST_API_KEY).complete({ message: 'x'.repeat(33 * 1024 * 1024) });
  await reader.over;
  assert.deepEqual([reader.status, reader.headers['x-agent-run-admitted']], [400, 'false']);
  assert.match(reader.text, /body_too_large/);
});

/** Counts how often a request reaches a node if all nodes close the connection; the answer is 502. */
async function asks(method: 'GET' | 'POST', change: (text: string) => string = (text) => text): Promise<string[]> {
  await using first = await BreakingNode.start();
  await using second = await BreakingNode.start();
  await using third = await BreakingNode.start();
  const nodes = [first, second, third];
  const configure = balancerConfiguration(nodes.map(({ url }) => url));
  await using nginx = await Nginx.startWith((folder, port) => change(configure(folder, port)));
  const path = method === 'POST' ? '/get_completion_v2' : '/v2/integrations';
  // A client of another test may try the port of a server that has ended.
  const mark = `?call=${randomUUID()}`;
  const response = await fetch(nginx.url + path + mark, { method, ...(method === 'POST' ? { body: '{}' } : {}) });
  assert.equal(response.status, 502);
  assert.equal(response.headers.get('x-agent-run-admitted'), null, 'nginx does not know, and says nothing');
  return nodes.flatMap(({ asked }) => asked.filter((line) => line.includes(mark)));
}

test('a POST that was sent is not sent again, a read is', { skip }, async () => {
  assert.equal((await asks('POST')).length, 1);
  assert.equal((await asks('GET')).length, 3);
});

test('sees a planted fault: a POST that is sent again', { skip }, async () => {
  const careless = (text: string) => text.replace('error timeout;', 'error timeout non_idempotent;');
  assert.equal((await asks('POST', careless)).length, 3);
});

/**
 * Sends half of an upload, and the other half after the node has received the first. Returns null if the first half did
 * not arrive in time.
 */
async function uploadInHalves(
  patienceMs: number,
  change: (text: string) => string = (text) => text,
): Promise<string | null> {
  const arrived = Promise.withResolvers<void>();
  const node = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text: string) => {
      body += text;
      arrived.resolve();
    });
    request.on('end', () => response.end(body));
  });
  await once(node.listen(0, '127.0.0.1'), 'listening');
  const { port } = node.address() as AddressInfo;
  const configure = balancerConfiguration(Array.from({ length: 3 }, () => `http://127.0.0.1:${port}`));
  await using nginx = await Nginx.startWith((folder, own) => change(configure(folder, own)));
  try {
    const sending = request(`${nginx.url}/uploads/demo`, { method: 'POST', headers: { 'content-length': 200_000 } });
    sending.on('error', () => {});
    sending.write('a'.repeat(100_000));
    const isThere = await Promise.race([arrived.promise.then(() => true), sleep(patienceMs, false, { ref: false })]);
    if (!isThere) {
      sending.destroy();
      return null;
    }
    sending.end('b'.repeat(100_000));
    const [answer] = (await once(sending, 'response')) as [IncomingMessage];
    return await text(answer);
  } finally {
    node.closeAllConnections();
    node.close();
  }
}

test('an upload reaches the node while it is still being sent', { skip }, async () => {
  assert.equal(await uploadInHalves(60_000), 'a'.repeat(100_000) + 'b'.repeat(100_000));
});

test('sees a planted fault: uploads that wait in nginx until they are whole', { skip }, async () => {
  assert.equal(await uploadInHalves(5000, (conf) => conf.replace('proxy_request_buffering off;', '')), null);
});
