import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Operation, operations } from '@runwire/contract/schemas';
import { type ApiClient, hookStore, STORES, type StoreName, startTestServer, type TestServer } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { readSources } from './support/architecture/sources.ts';
import { root } from './support/cli-process.ts';
import { pickColumn } from './support/columns.ts';

const SOURCE = 'packages/server/src/';
const all = Object.values(operations as Record<string, Operation>);
const SECRET = 'a-secret-of-my-own-0123456789-0123456789';

/** Counts the reads of each statement outside of transactions. */
const reads = new Map<string, number>();
const counting = hookStore({
  read: (statement, read) => {
    reads.set(statement, (reads.get(statement) ?? 0) + 1);
    return read();
  },
});

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const decoded = (token: string, place: number) =>
  JSON.parse(Buffer.from(token.split('.')[place] ?? '', 'base64url').toString());

function signed(header: object, payload: object, secret: string, hash = 'sha256'): string {
  const head = `${part(header)}.${part(payload)}`;
  return `${head}.${createHmac(hash, secret).update(head).digest('base64url')}`;
}

/** Builds a valid request of this operation to this integration. */
function toRequest(operation: Operation, integrationId: string): readonly [string, string, unknown] {
  const path = operation.path
    .replace(':apiIntegrationId', integrationId)
    .replace(':step', '1')
    .replace(/:[A-Za-z]+/g, 'some-id')
    .replace(/chat_status$/, 'chat_status?chatId=some-id')
    .replace(/usage\/summary$/, 'usage/summary?groupBy=day')
    .replace(/compare$/, 'compare?with=run_1')
    .replace(/files\/content$/, 'files/content?path=/app/mnt/a');
  const query = operation.operationId === 'deleteFile' ? '?path=/app/mnt/a' : '';
  const bodies: Record<string, unknown> = {
    getCompletionV2: { apiIntegrationId: integrationId, message: 'Hi' },
    createAgencyUpload: {
      apiIntegrationId: integrationId,
      folder: '/app/mnt/a',
      filename: 'a',
      contentType: 'text/plain',
      sizeBytes: 1,
    },
    createClientToken: { consumerId: 'a' },
    createOwner: { email: 'third@example.com' },
    createPerson: { email: 'fourth@example.com', role: 'viewer' },
    createWebhook: { url: null },
    runEval: { request: { message: 'Hi' } },
    answerQuestions: { answers: [{ questionId: 'qst_1', approve: true }] },
    replayWebhook: { from: '2030-01-01T00:00:00Z', to: '2030-01-02T00:00:00Z' },
    createSchedule: { name: 'a', cron: '0 0 1 1 *', request: { message: 'a' } },
    createAdjustment: { amount: 1, unit: 'tokens', reason: 'a', idempotencyKey: 'a' },
  };
  const body = operation.body === undefined ? undefined : (bodies[operation.operationId] ?? {});
  return [operation.method, path + query, body];
}

async function assertRefused(answer: ReturnType<ApiClient['get']>, kind: string): Promise<void> {
  const { status, headers, body } = await answer;
  // An answer to HEAD has no body.
  const code = body === '' ? 'invalid_api_key' : body.code;
  assert.deepEqual([status, code, headers.get('www-authenticate')], [401, 'invalid_api_key', 'Bearer'], kind);
}

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  let server: TestServer;
  let api: ApiClient;
  /** A second owner's key, and an integration of that owner. */
  let other: ApiClient;
  before(async () => {
    // The version of accounts is read only every hour, so the caches must forget by themselves.
    const limits = { accountsVersionMs: 3_600_000, accountsTrustedMs: 3_600_000 };
    server = await startTestServer({ store, wrapStore: counting, limits, env: { RUNWIRE_SECRET: SECRET } });
    api = server.api;
    other = api.as((await api.post('/v2/owners', { email: 'other@example.com' })).body.apiKey);
    assert.equal((await other.post('/v2/integrations', { apiIntegrationId: 'theirs' })).status, 201);
  });
  after(() => server[Symbol.asyncDispose]());

  async function newKey(input: object = {}): Promise<{ keyId: string; apiKey: string }> {
    const { status, body } = await api.post('/v2/api_keys', input);
    assert.equal(status, 201);
    return body;
  }

  test('an API key is a JWT: sub is the owner, jti the key', async (t) => {
    cites(t, 'contract-2-jwt', 'spec-5-token-format');
    const { keyId, apiKey } = await newKey();
    const { ownerId } = (await api.get('/v2/me')).body;
    assert.deepEqual(decoded(apiKey, 0), { alg: 'HS256', typ: 'JWT' });
    const payload = decoded(apiKey, 1);
    assert.deepEqual([payload.sub, payload.jti], [ownerId, keyId]);
    assert.equal(signed({ alg: 'HS256', typ: 'JWT' }, payload, SECRET), apiKey);
    assert.equal((await api.as(apiKey).get('/v2/me')).body.key.keyId, keyId);
    const described = (await api.get('/openapi.json')).body.components.securitySchemes;
    assert.deepEqual(Object.values(described), [{ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }]);
  });

  test('the data folder holds name and last use of a key, never the key', async (t) => {
    cites(t, 'contract-2-key-not-stored');
    const { keyId, apiKey } = await newKey({ name: 'kept' });
    assert.equal((await api.as(apiKey).get('/v2/me')).status, 200);
    assert.equal((await api.delete(`/v2/api_keys/${keyId}`)).status, 204);
    const listed = (await api.get('/v2/api_keys')).body.items.find((key: { keyId: string }) => key.keyId === keyId);
    const fields = 'keyId name role integrations suffix createdBy createdAt expiresAt lastUsedAt revokedAt'.split(' ');
    assert.deepEqual(Object.keys(listed), fields);
    assert.equal(listed.name, 'kept');
    assert.ok(listed.lastUsedAt !== null && listed.revokedAt !== null);
    const [head = '', payload = '', signature = ''] = apiKey.split('.');
    for (const entry of readdirSync(server.dataDir, { recursive: true, withFileTypes: true })) {
      if (entry.isDirectory()) continue;
      const name = join(entry.parentPath, entry.name);
      const bytes = readFileSync(name);
      for (const secret of [`${head}.${payload}`, payload, signature]) assert.ok(!bytes.includes(secret), name);
    }
  });

  test('refuses revoked, expired, foreign and unsigned tokens', async (t) => {
    cites(t, 'contract-2-bad-token', 'contract-8-401-invalid-api-key', 'spec-5-401', 'spec-5-scheme', 'spec-5-header');
    const { keyId, apiKey } = await newKey();
    const header = decoded(apiKey, 0);
    const claims = decoded(apiKey, 1);
    const brief = await newKey({ expiresAt: new Date(Date.now() + 2000).toISOString() });
    const revoked = await newKey();
    assert.equal((await api.as(revoked.apiKey).get('/v2/me')).status, 200);
    assert.equal((await api.delete(`/v2/api_keys/${revoked.keyId}`)).status, 204);
    const other512 = signed({ alg: 'HS512', typ: 'JWT' }, claims, SECRET, 'sha512');
    const refused: Readonly<Record<string, string>> = {
      revoked: revoked.apiKey,
      'foreign-signed': signed(header, claims, `another-${SECRET}`),
      'alg:none': `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`,
      'alg:none with a signature': `${part({ alg: 'none' })}.${part(claims)}.${apiKey.split('.')[2]}`,
      'another algorithm': other512,
      'expired by its own words': signed(header, { ...claims, exp: 1 }, SECRET),
      'of no key': signed(header, { ...claims, jti: 'key_unknown' }, SECRET),
      'of another owner': signed(header, { ...claims, sub: decoded(other.apiKey ?? '', 1).sub }, SECRET),
      'without owner': signed(header, { jti: keyId }, SECRET),
      'without key': signed(header, { sub: claims.sub }, SECRET),
      changed: apiKey.replace(/\.(.)([^.]*)$/, (_, first, rest) => `.${first === 'A' ? 'B' : 'A'}${rest}`),
      'the secret itself': SECRET,
      nonsense: 'nonsense',
    };
    for (const [kind, token] of Object.entries(refused)) await assertRefused(api.as(token).get('/v2/me'), kind);
    const headers = [
      apiKey,
      `Basic ${apiKey}`,
      'Bearer',
      'Bearer  ',
      `Bearer ${apiKey} x`,
      `Bearer ${apiKey},`,
      `"${apiKey}"`,
    ];
    for (const authorization of headers) {
      await assertRefused(api.as(null).call('GET', '/v2/me', undefined, { authorization }), authorization);
    }
    await assertRefused(api.as(null).get(`/v2/me?access_token=${apiKey}`), 'in the query');
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const answer = await api.as(null).call('GET', '/v2/me', undefined, { authorization: `${scheme} ${apiKey}` });
      assert.equal(answer.status, 200, scheme);
    }
    // The cache knows this key, but it has expired.
    while ((await api.as(brief.apiKey).get('/v2/me')).status === 200);
    await assertRefused(api.as(brief.apiKey).get('/v2/me'), 'expired');
  });

  test('the 401 sentence names the problem, except for a wrong signature', async (t) => {
    cites(t, 'contract-2-key-sentences');
    const { apiKey } = await newKey();
    const header = decoded(apiKey, 0);
    const claims = decoded(apiKey, 1);
    const revoked = await newKey();
    assert.equal((await api.delete(`/v2/api_keys/${revoked.keyId}`)).status, 204);
    const sentence = async (authorization: string | undefined) => {
      const sent: Record<string, string> = authorization === undefined ? {} : { authorization };
      const answer = api.as(null).call('GET', '/v2/me', undefined, sent);
      await assertRefused(answer, String(authorization));
      return (await answer).body.error as string;
    };
    for (const authorization of [undefined, '', 'Bearer', 'bearer  ']) {
      assert.match(await sentence(authorization), /^The API key is missing; /, String(authorization));
    }
    for (const authorization of [apiKey, `Basic ${apiKey}`, `Bearer ${apiKey} x`]) {
      assert.match(await sentence(authorization), /^The `Authorization` header is malformed; /, authorization);
    }
    for (const token of ['nonsense', SECRET, apiKey.split('.').slice(0, 2).join('.'), `${apiKey},`]) {
      assert.match(await sentence(`Bearer ${token}`), /^The API key is malformed; /, token);
    }
    const expired = signed(header, { ...claims, exp: 1 }, SECRET);
    assert.match(await sentence(`Bearer ${expired}`), /^The API key has expired; /);
    assert.match(await sentence(`Bearer ${revoked.apiKey}`), /^The API key was revoked; /);
    const foreign = `another-${SECRET}`;
    for (const token of [
      signed(header, claims, foreign),
      signed(header, { ...claims, exp: 1 }, foreign),
      signed(header, { ...claims, jti: revoked.keyId }, foreign),
      `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`,
    ]) {
      assert.match(await sentence(`Bearer ${token}`), /^The API key is not valid; /, token);
    }
  });

  test('only a token with typ JWT in its header is a key', async (t) => {
    cites(t, 'contract-2-typ-jwt');
    const { apiKey } = await newKey();
    const claims = decoded(apiKey, 1);
    for (const header of [{ alg: 'HS256' }, { alg: 'HS256', typ: 'at+jwt' }, { alg: 'HS256', typ: 'client' }]) {
      await assertRefused(api.as(signed(header, claims, SECRET)).get('/v2/me'), JSON.stringify(header));
    }
  });

  test('a key id that no key can have is 401, not a fault of the server', async () => {
    const { apiKey } = await newKey();
    const header = decoded(apiKey, 0);
    const claims = decoded(apiKey, 1);
    for (const id of [5, null, {}, ['key_1'], '', 'key\u0000', '\ud800', 'k'.repeat(300)]) {
      await assertRefused(
        api.as(signed(header, { ...claims, jti: id }, SECRET)).get('/v2/me'),
        `jti ${JSON.stringify(id)}`,
      );
      await assertRefused(
        api.as(signed(header, { ...claims, sub: id }, SECRET)).get('/v2/me'),
        `sub ${JSON.stringify(id)}`,
      );
    }
  });

  test('the hundredth request with a verified key asks the store nothing', async (t) => {
    cites(t, 'contract-2-verification-cached');
    const { keyId, apiKey } = await newKey();
    const client = api.as(apiKey);
    await client.get('/v2/me');
    const before = reads.get('key by id') ?? 0;
    for (let i = 0; i < 100; i += 1) assert.equal((await client.get('/v2/me')).status, 200);
    assert.equal(reads.get('key by id'), before);
    assert.equal((await client.delete(`/v2/api_keys/${keyId}`)).status, 204);
    assert.equal((await client.get('/v2/me')).status, 401, 'and forgotten when it is revoked');
  });

  test('without a key only health, readiness, the description and / answer', async (t) => {
    cites(
      t,
      'contract-2-without-key-schema',
      'contract-2-without-key',
      'contract-2-without-key-docs',
      'spec-4-authorization',
      'spec-5-scope',
    );
    const open = ['/', '/healthz', '/readyz', '/openapi.json', '/agency.schema.json', '/evals.schema.json', '/docs'];
    const nobody = api.as(null);
    for (const path of open) assert.equal((await nobody.get(path)).status, 200, path);
    const others = all.filter((operation) => !open.includes(operation.path));
    assert.ok(others.length > 25);
    for (const operation of others) {
      const [method, path, body] = toRequest(operation, 'demo');
      await assertRefused(nobody.call(method, path, body), operation.operationId);
    }
  });

  test('unknown integrations are 404, those of another owner 403', async (t) => {
    cites(
      t,
      'contract-2-one-owner',
      'contract-2-unknown-integration',
      'contract-2-foreign-integration',
      'contract-8-404-integration-not-found',
      'contract-8-403-integration-forbidden',
      'spec-5-403',
      'spec-5-scope',
      'spec-4.1-rule-3',
    );
    assert.equal((await api.get('/v2/me')).body.administrator, true);
    const below = all.filter(
      (operation) =>
        operation.operationId === 'getCompletionV2' || operation.path.startsWith('/v2/integrations/:apiIntegrationId'),
    );
    assert.ok(below.length > 15);
    for (const operation of below) {
      for (const [integrationId, status, code] of [
        ['nowhere', 404, 'integration_not_found'],
        ['theirs', 403, 'integration_forbidden'],
      ] as const) {
        const answer = await api.call(...toRequest(operation, integrationId));
        const told = operation.method === 'HEAD' ? code : answer.body.code;
        assert.deepEqual([answer.status, told], [status, code], operation.operationId);
        if (operation.operationId === 'getCompletionV2') {
          assert.equal(answer.headers.get('x-agent-run-admitted'), 'false');
        }
      }
    }
    const mine = await other.call(...toRequest(operations.getCompletionV2, 'demo'));
    assert.deepEqual([mine.status, mine.body.code], [403, 'integration_forbidden']);
    const listed = (await other.get('/v2/integrations')).body.items;
    assert.deepEqual(pickColumn(listed, 'apiIntegrationId'), ['theirs']);
    assert.equal((await other.get('/v2/integrations/theirs')).status, 200);
    const reader = await other.complete({ apiIntegrationId: 'theirs' });
    assert.equal(reader.status, 200, 'its owner may');
    reader.cut();
  });

  test('one module decides who owns an integration, and no operation can be added without it', (t) => {
    cites(t, 'contract-2-one-place');
    const sources = new Map(
      [...readSources(root)].filter(([path]) => path.startsWith(SOURCE) && !path.endsWith('.test.ts')),
    );
    const filesWith = (text: RegExp) => [...sources].filter(([, code]) => text.test(code)).map(([path]) => path);
    assert.deepEqual(filesWith(/['"]integration_forbidden['"]/), [`${SOURCE}accounts/owned-integration.ts`]);
    assert.deepEqual(filesWith(/\bownership\.scope\(/), [
      `${SOURCE}http/compatible/compatible-route.ts`,
      `${SOURCE}http/route.ts`,
    ]);
    // These take no id of an integration from a caller, or check a signature that has it.
    const others = ['openapi', 'routes/console-pages', 'routes/console-sign-in', 'routes/receive-upload'];
    const allowed = ['route', 'compatible/compatible-route', ...others]
      .map((name) => `${SOURCE}http/${name}.ts`)
      .toSorted();
    const registers = /\bapp\s*\.(route|get|head|post|put|patch|delete|all|register)\(/;
    assert.deepEqual(filesWith(registers).toSorted(), allowed);
    const planted = `${SOURCE}http/routes/chats.ts`;
    sources.set(planted, `${sources.get(planted)}app.get('/v2/integrations/:apiIntegrationId/x', handler);`);
    assert.ok(filesWith(registers).includes(planted), 'an operation without a check is found');
  });

  test('owners are for the administrator alone', async (t) => {
    cites(t, 'contract-3-owners', 'contract-8-403-administrator-only');
    for (const answer of [await other.get('/v2/owners'), await other.post('/v2/owners', { email: 'x@example.com' })]) {
      assert.deepEqual([answer.status, answer.body.code], [403, 'administrator_only']);
    }
    const emails = (await api.get('/v2/owners')).body.items.map((owner: { email: string | null }) => owner.email);
    assert.deepEqual(emails, ['other@example.com', null], 'refused: nobody was made');
  });
}
