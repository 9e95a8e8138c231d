import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type ErrorEntry, errors } from '@runwire/contract';
import { type Operation, operations } from '@runwire/contract/schemas';
import { type ApiClient, hookStore, type Overrides, startTestServer, TEST_API_KEY } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { root } from './support/cli-process.ts';
import { RawConnection } from './support/raw-http.ts';

type Logger = NonNullable<Overrides['logger']>;

/** The names of statements whose reads fail. */
const failing = new Set<string>();

const logged: { readonly level: string; readonly fields: Record<string, unknown>; readonly text: string }[] = [];
const recorder = Object.fromEntries(
  ['debug', 'info', 'warn', 'error', 'fatal'].map((level) => [
    level,
    (fields: Record<string, unknown>, text: string) => logged.push({ level, fields, text }),
  ]),
) as unknown as Logger;

interface Row {
  readonly status: string;
  readonly retryable: string;
  readonly sentence: string;
}

/** Reads a page's table, by code. */
function documented(page: string): Map<string, Row> {
  const lines = readFileSync(join(root, page), 'utf8').split('\n');
  const cells = (line: string) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim());
  const head = lines.findIndex((line) => cells(line)[0] === 'code');
  assert.notEqual(head, -1, `${page} has a table whose first column is \`code\``);
  const columns = cells(lines[head] ?? '');
  const rows = new Map<string, Row>();
  for (const line of lines.slice(head + 2)) {
    if (!line.startsWith('|')) break;
    const row = cells(line);
    const cell = (name: string) => row[columns.indexOf(name)] ?? '';
    const code = cell('code').replaceAll('`', '');
    assert.ok(!rows.has(code), `${code} stands there twice`);
    rows.set(code, { status: cell('status'), retryable: cell('retryable'), sentence: cell('sentence') });
  }
  return rows;
}

test('the pages of errors list exactly the codes of the error table', () => {
  const pages = [
    'docs/errors.md',
    'docs/run-errors.md',
    'docs/account-errors.md',
    'docs/compatible-errors.md',
    'docs/webhook-errors.md',
  ].map(documented);
  const rows = pages.flatMap((page) => [...page]);
  assert.deepEqual(rows.map(([code]) => code).sort(), Object.keys(errors).sort());
  const docs = new Map(rows);
  for (const [code, entry] of Object.entries(errors as Record<string, ErrorEntry>)) {
    assert.deepEqual(
      docs.get(code),
      {
        status: entry.status === null ? 'in the stream' : String(entry.status),
        retryable: entry.retryable ? 'yes' : 'no',
        sentence: entry.sentence,
      },
      code,
    );
  }
});

test('every code has one sentence that explains the mistake and the fix', () => {
  for (const [code, { sentence, status, inStream }] of Object.entries(errors as Record<string, ErrorEntry>)) {
    assert.match(code, /^[a-z]+(_[a-z]+)*$/);
    assert.match(sentence, /^[A-Z][^\n]*[;:] .*\.$/, code);
    assert.ok(!/[.] [A-Z]/.test(sentence), `${code}: one sentence`);
    assert.ok(status !== null || inStream === true, `${code} occurs somewhere`);
  }
});

/** A request with a valid beginning of the body, followed by a chunk that has no size. */
const brokenChunk = (line: string) =>
  [
    `${line} HTTP/1.1`,
    'host: a',
    `authorization: Bearer ${TEST_API_KEY}`,
    'content-type: application/json',
    'transfer-encoding: chunked',
    '',
    '1',
    '{',
    'no size',
    '',
    '',
  ].join('\r\n');

/** Requests of every kind: answered and refused, by each part of the server. */
const EVERY_KIND: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ['GET', '/healthz'],
  ['PUT', '/healthz'],
  ['GET', '/docs'],
  ['GET', '/openapi.json'],
  ['GET', '/metrics'],
  ['GET', '/v2/me'],
  ['PUT', '/v2/integrations/demo/members/x', {}],
  ['DELETE', '/v2/integrations/demo/members/x'],
  ['GET', '/v2/integrations/demo/chats'],
  ['GET', '/v2/integrations/demo/usage?format=csv'],
  ['GET', `/v2/integrations/${'a'.repeat(5000)}`],
  ['POST', '/v2/api_keys', '{'],
  ['GET', '/nowhere'],
  ['GET', '/v2/%zz'],
  ['OPTIONS', '/uploads/demo'],
  ['POST', '/uploads/demo', 'no form'],
  ['POST', '/get_completion_v2', {}],
  ['POST', '/get_completion_v2', { apiIntegrationId: 'demo', message: 'Hi' }],
];

const SECRET_OF_OURS = 'disk I/O error at /srv/data/runwire.db';

const failingReads = hookStore({
  read: (statement, read) => (failing.has(statement) ? Promise.reject(new Error(SECRET_OF_OURS)) : read()),
});

const server = await startTestServer({ wrapStore: failingReads, logger: recorder });
after(() => server[Symbol.asyncDispose]());
const { api } = server;

test('an internal error has no details; the log has all of them', async (t) => {
  cites(t, 'contract-8-500-internal-error', 'spec-2.4-error');
  const fault = async (statement: string, path: string, call: () => ReturnType<ApiClient['get']>) => {
    failing.add(statement);
    const before = logged.length;
    const { status, body, headers } = await call();
    failing.delete(statement);
    assert.equal(status, 500);
    assert.deepEqual(body, { error: errors.internal_error.sentence, code: 'internal_error' });
    assert.ok(!JSON.stringify([...headers]).includes('disk'));
    const [line, ...more] = logged.slice(before).filter(({ text }) => text !== 'request');
    assert.deepEqual([line?.level, more.length], ['error', 0]);
    const error = line?.fields.err;
    assert.ok(error instanceof Error);
    assert.equal(error.message, SECRET_OF_OURS);
    assert.match(error.stack ?? '', /errors\.test\.ts/, 'with where it came from');
    assert.equal(line?.fields.requestId, headers.get('x-request-id'), 'found by the id that the caller has');
    assert.equal(line?.fields.path, path);
    return headers;
  };
  const member = '/v2/integrations/:apiIntegrationId/members/:consumerId';
  await fault('member by id', member, () => api.get('/v2/integrations/demo/members/ann'));
  // An integration whose owner no request has looked up yet.
  const { apiIntegrationId } = (await api.post('/v2/integrations', {})).body;
  const body = { apiIntegrationId, message: 'Hi' };
  const headers = await fault('integration by id', '/get_completion_v2', () => api.post('/get_completion_v2', body));
  assert.equal(headers.get('x-agent-run-admitted'), 'false');
  const reader = await api.complete(body);
  assert.equal(reader.status, 200, 'and the next request is answered');
  await reader.whole();
});

test('health and readiness answer without a key', async (t) => {
  cites(t, 'contract-3-health');
  const nobody = api.as(null);
  assert.deepEqual((await nobody.get('/healthz')).body, { status: 'ok' });
  const ready = await nobody.get('/readyz');
  assert.deepEqual([ready.status, ready.body], [200, { status: 'ok', store: 'sqlite', sandbox: { kind: 'off' } }]);
});

test('unknown paths are 404 and unknown methods 405 with Allow', async (t) => {
  cites(t, 'contract-3-errors', 'contract-8-404-not-found', 'contract-8-405-method-not-allowed', 'spec-4-json');
  const unknown = ['GET /nowhere', 'DELETE /v2/integrations/demo/nowhere', 'GET /V2/me', 'GET /v2//me'];
  for (const line of [...unknown, 'POST /v2/nowhere', 'POST /get_completion']) {
    const [method = '', path = ''] = line.split(' ');
    const answer = await api.call(method, path, method === 'POST' ? {} : undefined);
    assert.deepEqual([answer.status, answer.body.code], [404, 'not_found'], path);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  }
  const byPath = Map.groupBy(Object.values(operations as Record<string, Operation>), (operation) => operation.path);
  for (const [pattern, known] of byPath) {
    const path = pattern.replace(':apiIntegrationId', 'demo').replace(/:[A-Za-z]+/g, 'some-id');
    const allowed = known.map((operation) => operation.method).sort();
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
      if (allowed.includes(method as Operation['method'])) continue;
      const answer = await api.call(method, path);
      assert.deepEqual([answer.status, answer.body.code], [405, 'method_not_allowed'], `${method} ${path}`);
      assert.deepEqual(answer.headers.get('allow')?.split(', ').sort(), allowed);
      const [, named] = /^This path does not support [A-Z]+; use (.*)\.$/.exec(answer.body.error) ?? [];
      assert.deepEqual(named?.split(/, | or /).sort(), allowed, 'the sentence names the methods too');
    }
  }
});

test('HEAD answers like GET without a body, or 405 if it is not allowed', async (t) => {
  cites(t, 'contract-3-head');
  const all = Object.values(operations as Record<string, Operation>);
  const withHead = [
    '/healthz',
    '/readyz',
    '/openapi.json',
    '/docs',
    '/v2/integrations/:apiIntegrationId/files/content',
  ];
  assert.deepEqual(
    all
      .filter(({ method }) => method === 'HEAD')
      .map(({ path }) => path)
      .sort(),
    withHead.sort(),
  );
  for (const path of withHead.slice(0, 4)) {
    const [get, head] = [await api.as(null).get(path), await api.as(null).call('HEAD', path)];
    assert.deepEqual([head.status, head.body], [200, ''], path);
    for (const name of ['content-type', 'content-length', 'content-security-policy']) {
      assert.equal(head.headers.get(name), get.headers.get(name), `${path}: ${name}`);
    }
  }
  const others = new Set(all.filter(({ path }) => !withHead.includes(path)).map(({ path }) => path));
  for (const pattern of others) {
    const path = pattern.replace(':apiIntegrationId', 'demo').replace(/:[A-Za-z]+/g, 'some-id');
    const { status, headers } = await api.call('HEAD', path);
    assert.deepEqual([status, headers.get('allow')?.includes('HEAD')], [405, false], path);
  }
});

test('an encoded slash belongs to its segment', async (t) => {
  cites(t, 'contract-3-encoded-slash');
  for (const id of ['a%2Fb', 'a%2fb', '%2F', 'a%252Fb', 'a%3Fb']) {
    const answer = await api.call('PUT', `/v2/integrations/demo/chats/${id}`, {});
    assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'DELETE, GET, PATCH'], id);
  }
  const chatId = 'a/b';
  assert.equal((await api.post('/v2/integrations/demo/chats', { chatId })).status, 201);
  assert.equal((await api.get('/v2/integrations/demo/chats/a%2Fb')).body.chatId, chatId);
  assert.equal((await api.get('/v2/integrations/demo/chats/a%2Fb/messages')).status, 200);
  assert.equal((await api.get('/v2/integrations/demo/chats/a/b')).status, 404);
});

test('the absolute form of a request target behaves like the path alone', async (t) => {
  cites(t, 'contract-3-encoded-slash');
  const key = `authorization: Bearer ${TEST_API_KEY}\r\n`;
  const ask = (method: string, target: string, more = '') =>
    raw(`${method} ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${key}${more}\r\n`);
  const status = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
  for (const [method, path] of [
    ['GET', '/v2/me'],
    ['GET', '/v2/integrations?limit=1'],
    ['GET', '/v2/integrations/demo/chats/none%2Fhere'],
    ['PUT', '/v2/me/'],
    ['GET', '/nowhere'],
    ['PUT', '/get_completion_v2'],
  ] as const) {
    const plain = await ask(method, path);
    for (const authority of ['http://a', 'https://other.example.com:99', 'HTTP://A', 'http://user@a']) {
      const absolute = await ask(method, authority + path);
      const comparable = (answer: string) => answer.replaceAll(/^(x-request-id|date): .*\r\n/gim, '');
      assert.equal(comparable(absolute), comparable(plain), `${method} ${authority}${path}`);
    }
  }
  const length = 'content-type: application/json\r\ncontent-length: 2\r\n';
  const refused = await ask('POST', 'http://a/get_completion_v2', `${length}\r\n{}`.slice(0, -2));
  assert.deepEqual([status(refused), /^x-agent-run-admitted: false\r$/m.test(refused)], [400, true], refused);
  assert.equal(status(await ask('GET', 'http://a')), status(await ask('GET', '/')));
  assert.equal(status(await ask('GET', 'http://a?x=1')), status(await ask('GET', '/?x=1')));
});

test('two `Host` headers are 400, whatever the path', async (t) => {
  cites(t, 'contract-8-400-invalid-request');
  for (const line of ['GET /healthz', 'GET /nowhere', 'POST /get_completion_v2', 'POST /uploads/demo']) {
    const answer = await raw(`${line} HTTP/1.1\r\nHost: a\r\nhost: a\r\ncontent-length: 0\r\n\r\n`);
    assert.match(answer, /^HTTP\/1\.1 400 /, line);
    assert.match(answer, /more than one `Host` header/, line);
    assert.equal(/^x-agent-run-admitted: false\r$/m.test(answer), line.includes('completion'), line);
  }
});

test('every answer forbids browsers to guess its type', async () => {
  const nosniff = (headers: Headers) => headers.get('x-content-type-options');
  for (const [method, path, body] of EVERY_KIND) {
    assert.equal(nosniff((await api.call(method, path, body)).headers), 'nosniff', `${method} ${path}`);
  }
  assert.equal(nosniff((await api.as(null).get('/v2/me')).headers), 'nosniff');
  const { items } = (await api.get('/v2/integrations/demo/runs?limit=1')).body;
  const events = await api.events(items[0].runId, null);
  assert.equal(events.headers['x-content-type-options'], 'nosniff');
  await events.whole();
  for (const request of ['nonsense\r\n\r\n', brokenChunk('POST /v2/integrations')]) {
    assert.match(await raw(request), /^x-content-type-options: nosniff\r$/m, request);
  }
});

test('a trailing slash works as without it', async (t) => {
  cites(t, 'contract-3-trailing-slash');
  await api.post('/v2/integrations/demo/chats', { chatId: 'slash' });
  for (const path of [
    '/healthz',
    '/openapi.json',
    '/v2/me',
    '/v2/agencies',
    '/v2/integrations',
    '/v2/integrations/demo',
    '/v2/integrations/demo/chats/slash',
    '/v2/integrations/nowhere',
    '/nowhere',
  ]) {
    const [without, with_] = [await api.get(path), await api.get(`${path}/`)];
    assert.deepEqual([with_.status, with_.body], [without.status, without.body], path);
  }
  const listed = await api.get('/v2/integrations/?limit=1');
  assert.deepEqual([listed.status, listed.body.items.length], [200, 1]);
  const reader = await api.call('POST', '/get_completion_v2/', { apiIntegrationId: 'demo', message: 'Hi' });
  assert.equal(reader.status, 200);
  assert.equal(reader.headers.get('x-agent-run-admitted'), 'true');
  const refused = await api.call('POST', '/get_completion_v2/', {});
  assert.deepEqual([refused.status, refused.headers.get('x-agent-run-admitted')], [400, 'false']);
  assert.equal((await api.call('PUT', '/v2/me/')).headers.get('allow'), 'GET, PATCH');
});

/** Sends bytes, closes after a whole JSON answer, and returns it. `then` is sent after the answer's first bytes. */
function raw(request: string, then?: string): Promise<string> {
  const connection = new RawConnection(server.url);
  const { socket } = connection;
  if (then !== undefined) socket.once('data', () => socket.write(then));
  socket.on('data', () => {
    if (/\r\n\r\n.*\}$/s.test(connection.text)) socket.end();
  });
  connection.send(request);
  return connection.closed;
}

test('every answer has a unique X-Request-Id', async (t) => {
  cites(t, 'contract-3-request-id');
  const seen = new Set<string>();
  const note = (id: string | null | undefined, what: string) => {
    assert.match(id ?? '', /^req_\w+$/, what);
    assert.ok(!seen.has(id ?? ''), `${what}: its own`);
    seen.add(id ?? '');
  };
  for (const [method, path, body] of EVERY_KIND) {
    note((await api.call(method, path, body)).headers.get('x-request-id'), `${method} ${path.slice(0, 40)}`);
  }
  note((await api.as(null).get('/v2/me')).headers.get('x-request-id'), 'without a key');
  const reader = await api.complete({});
  note(String(reader.headers['x-request-id']), 'a stream');
  await reader.whole();
  const again = await api.events(String(reader.headers['x-run-id']), null);
  note(String(again.headers['x-request-id']), 'its events');
  await again.whole();
  for (const request of [
    'GET /v2/%zz HTTP/1.1\r\nhost: a\r\n\r\n',
    'POST /get_completion_v2 HTTP/1.1\r\n\r\n',
    'POST /get_completion_v2 HTTP/1.1\r\nhost: a\r\nexpect: wonders\r\ncontent-length: 0\r\n\r\n',
    'nonsense\r\n\r\n',
    `GET /v2/me HTTP/1.1\r\nhost: a\r\nlong: ${'a'.repeat(20_000)}\r\n\r\n`,
  ]) {
    const answer = await raw(request);
    note(/^x-request-id: (\S+)\r$/m.exec(answer)?.[1], `${request.slice(0, 40)} → ${answer}`);
    const { error, code } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
    assert.deepEqual([typeof error, typeof code], ['string', 'string']);
    if (request.startsWith('POST /get_completion_v2')) assert.match(answer, /^x-agent-run-admitted: false\r$/m);
  }
});

test('every answer has the X-Request-Id of its caller, if it is valid', async (t) => {
  cites(t, 'contract-3-request-id-of-caller');
  for (const [index, [method, path, body]] of EVERY_KIND.entries()) {
    const mine = `mine/${index}`;
    const { headers } = await api.call(method, path, body, { 'x-request-id': mine });
    assert.equal(headers.get('x-request-id'), mine, path);
    if (path.startsWith('/uploads')) assert.equal(headers.get('x-amz-request-id'), mine, path);
  }
  const reader = await api.complete({}, { 'x-request-id': 'mine/stream' });
  assert.equal(reader.headers['x-request-id'], 'mine/stream');
  await reader.whole();
  for (const request of [
    'GET /v2/%zz HTTP/1.1\r\nhost: a\r\nx-request-id: mine/raw\r\n\r\n',
    // This request breaks off in its body, after its headers were read.
    'POST /v2/api_keys HTTP/1.1\r\nhost: a\r\nx-request-id: mine/raw\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
  ]) {
    assert.match(await raw(request), /^HTTP\/1\.1 400 .*^x-request-id: mine\/raw\r$/ms, request);
  }
  for (const unusable of ['', ' ', 'two words', 'a'.repeat(129), 'caf\u00e9']) {
    const { headers } = await api.call('GET', '/healthz', undefined, { 'x-request-id': unusable });
    assert.match(headers.get('x-request-id') ?? '', /^req_\w+$/, unusable);
  }
});

test('a body that is not HTTP is answered with 400, and starts nothing', async (t) => {
  cites(t, 'contract-4-header-false', 'contract-8-400-invalid-request');
  for (const [line, completion] of [
    ['POST /get_completion_v2', true],
    ['POST /get_completion_v2/?x=y', true],
    ['POST /v2/integrations', false],
  ] as const) {
    // In one piece, and with only the head first: the answer to `Expect` confirms that the server has it.
    const whole = brokenChunk(line);
    const head = whole.indexOf('1\r\n{');
    const expecting = whole.slice(0, head).replace('host: a', 'host: a\r\nexpect: 100-continue');
    for (const said of [await raw(whole), await raw(expecting, whole.slice(head))]) {
      const answer = said.replace('HTTP/1.1 100 Continue\r\n\r\n', '');
      const what = `${line}: ${said}`;
      assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/, what);
      assert.match(answer, /^content-type: application\/json/im, what);
      assert.match(answer, /^x-request-id: req_\w+\r$/m, what);
      assert.equal(/^x-agent-run-admitted: false\r$/m.test(answer), completion, what);
      assert.deepEqual(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))), {
        error: 'The request is not valid HTTP; send well-formed HTTP/1.1.',
        code: 'invalid_request',
      });
    }
  }
  const refused = await raw(brokenChunk('POST /v2/nowhere').slice(0, -15), 'no size either\r\n');
  assert.match(refused, /^HTTP\/1\.1 404 /, 'answered before its body came whole');
  assert.equal(refused.split('HTTP/1.1').length, 2, 'and once');
  const { body } = await api.get('/v2/integrations/demo/runs?status=running');
  assert.deepEqual(body.items, []);
});

test('an answer under way stays intact if what follows is not HTTP', async () => {
  const body = JSON.stringify({ apiIntegrationId: 'demo', message: '/slow 600', usageRequestId: 'then-nonsense' });
  const head = `POST /get_completion_v2 HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${TEST_API_KEY}\r\n`;
  const type = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  const under = await raw(`${head}${type}${body}`, 'nonsense\r\n\r\n');
  assert.match(under, /^HTTP\/1\.1 200 OK\r\n/);
  assert.equal(under.split('HTTP/1.1').length, 2);
  assert.ok(!under.includes('not valid HTTP'));
  // If a request is complete and its answer has not begun, the server cannot claim that it reserved nothing.
  const before = await raw(`${head}${type}${body}nonsense\r\n\r\n`);
  assert.ok(!before.includes('x-agent-run-admitted: false'), before);
  const { body: status } = await api.get('/v2/integrations/demo/chat_status?usageRequestId=then-nonsense');
  await api.post(`/v2/integrations/demo/runs/${status.run.runId}/cancel`);
});
