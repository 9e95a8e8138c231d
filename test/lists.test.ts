import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { type Operation, operations } from '@runwire/contract/schemas';
import { type ApiClient, fullTest, STORES, type StoreName, startTestServer, type TestServer } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { refused } from './support/refused.ts';
import { upload } from './support/uploads.ts';

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  let server: TestServer;
  let api: ApiClient;
  before(async () => {
    server = await startTestServer({ store });
    api = server.api;
  });
  after(() => server[Symbol.asyncDispose]());

  async function created(path: string, body: object = {}) {
    const answer = await api.post(path, body);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  }

  test('JSON answers above 1 KiB are compressed, and no others', async (t) => {
    cites(t, 'contract-26-compressed', 'contract-26-not-compressed');
    const { apiIntegrationId: id } = await created('/v2/integrations');
    const chats = `/v2/integrations/${id}/chats`;
    const metadata = { text: 'again and again '.repeat(100) };
    const ask = async (path: string, accepted: string, method = 'GET', body?: object) => {
      const sent = request(new URL(path, server.url), {
        method,
        headers: { ...api.authorization, 'content-type': 'application/json', 'accept-encoding': accepted },
      });
      sent.end(body === undefined ? undefined : JSON.stringify(body));
      const [answer] = await once(sent, 'response');
      const bytes = await buffer(answer);
      const { vary, 'content-encoding': encoding, 'content-length': length } = answer.headers;
      return { bytes, vary, encoding, length: Number(length) };
    };
    await created(chats, { chatId: 'c' });
    const patched = await ask(`${chats}/c`, 'gzip, br', 'PATCH', { metadata });
    assert.deepEqual(JSON.parse(brotliDecompressSync(patched.bytes).toString()).metadata, metadata);
    const plain = await ask(chats, 'identity');
    assert.deepEqual([plain.encoding, plain.vary], [undefined, 'Accept-Encoding']);
    for (const [accepted, encoding, decode] of [
      ['br;q=0.1, gzip', 'br', brotliDecompressSync],
      ['br;q=0, gzip', 'gzip', gunzipSync],
    ] as const) {
      const answer = await ask(chats, accepted);
      assert.deepEqual([answer.encoding, answer.vary], [encoding, 'Accept-Encoding']);
      assert.equal(answer.length, answer.bytes.length);
      assert.deepEqual(decode(answer.bytes), plain.bytes);
    }
    const whole = await ask('/openapi.json', 'br');
    const head = await ask('/openapi.json', 'br', 'HEAD');
    assert.deepEqual([head.encoding, head.length, head.bytes.length], ['br', whole.length, 0]);
    assert.equal((await ask('/healthz', 'br')).vary, undefined);
    const name = 'n'.repeat(200);
    const wide = {
      origins: Array.from({ length: 10 }, (_, i) => `https://${i}.${'o'.repeat(60)}.${'p'.repeat(60)}.example`),
    };
    assert.equal((await api.put(`/v2/integrations/${id}/members/ann`, { name })).status, 201);
    const token = await ask(`/v2/integrations/${id}/client_tokens`, 'br', 'POST', { consumerId: 'ann', ...wide });
    const path = await upload(api, JSON.stringify(metadata), {
      apiIntegrationId: id,
      filename: 'a.json',
      contentType: 'application/json',
    });
    const file = await ask(`/v2/integrations/${id}/files/content?path=${path}`, 'br');
    const run = await ask('/get_completion_v2', 'br', 'POST', { apiIntegrationId: id, message: 'Hi '.repeat(1000) });
    for (const answer of [token, file, run]) {
      assert.ok(answer.bytes.length > 1024, `${answer.bytes}`);
      assert.deepEqual([answer.encoding, answer.vary], [undefined, undefined]);
    }
  });

  fullTest('a page of completed runs reads at most 5 000 runs', async (t) => {
    cites(t, 'contract-3-lists');
    const { apiIntegrationId: id } = await created('/v2/integrations');
    const reader = await api.complete({ apiIntegrationId: id });
    await reader.whole();
    const runId = String(reader.headers['x-run-id']);
    const [row = {}] = await askStore(server.dataDir, `select * from runs where run_id = '${runId}'`);
    const changed: Record<string, string> = {
      run_id: `run_id || '_' || i`,
      created_at: 'created_at + i',
      status: `'failed'`,
    };
    const columns = Object.keys(row);
    await askStore(
      server.dataDir,
      `with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < 5000)
       insert into runs (${columns}) select ${columns.map((name) => changed[name] ?? name)} from runs, numbers
       where run_id = '${runId}'`,
    );
    const path = `/v2/integrations/${id}/runs?status=completed&limit=1`;
    const first = (await api.get(path)).body;
    assert.deepEqual([first.items, typeof first.nextCursor], [[], 'string']);
    const { items, nextCursor } = (await api.get(`${path}&cursor=${encodeURIComponent(first.nextCursor)}`)).body;
    assert.deepEqual([items.length, items[0]?.runId, nextCursor], [1, runId, null]);
  });

  test('lists are {items, nextCursor}, newest first, with 50 items by default', async (t) => {
    cites(t, 'contract-3-lists', 'contract-9-newest-first', 'contract-3-limit-digits');
    const { apiIntegrationId: id } = await created('/v2/integrations');
    const lists = {
      [`/v2/integrations/${id}/members`]: (i: number) => api.put(`/v2/integrations/${id}/members/m${i + 10}`, {}),
      [`/v2/integrations/${id}/chats`]: () => api.post(`/v2/integrations/${id}/chats`, {}),
      '/v2/integrations': () => api.post('/v2/integrations', {}),
      '/v2/api_keys': () => api.post('/v2/api_keys', {}),
      '/v2/owners': (i: number) => api.post('/v2/owners', { email: `list${i}@example.com` }),
      '/v2/agencies': null,
      '/v2/nodes': null,
      [`/v2/integrations/${id}/runs`]: null,
      [`/v2/integrations/${id}/usage`]: null,
    };
    for (const [path, add] of Object.entries(lists)) {
      const made: string[] = [];
      const getId = (item: Record<string, string>) =>
        item.consumerId ?? item.chatId ?? item.keyId ?? item.ownerId ?? item.agency ?? item.apiIntegrationId ?? '';
      // An integration has an agency too.
      const name = (item: Record<string, string>) =>
        path === '/v2/integrations' ? item.apiIntegrationId : getId(item);
      for (let i = 0; i < (add === null ? 0 : 52); i += 1) made.unshift(name((await add?.(i))?.body) ?? '');
      const first = await api.get(path);
      assert.equal(first.status, 200);
      assert.deepEqual(Object.keys(first.body), ['items', 'nextCursor']);
      const whole = (await api.get(`${path}?limit=200`)).body;
      assert.equal(whole.nextCursor, null);
      if (add !== null) {
        assert.equal(first.body.items.length, 50, path);
        // The key of `RUNWIRE_API_KEY` has no id and is first.
        const stored = whole.items.filter(({ keyId }: { keyId?: string | null }) => keyId !== null);
        assert.deepEqual(stored.map(name).slice(0, made.length), made, path);
      }
      const paged: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const { body }: { body: { items: Record<string, string>[]; nextCursor: string | null } } = await api.get(
          `${path}?limit=${whole.items.length < 5 ? 1 : 20}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        );
        assert.ok(body.items.length <= (whole.items.length < 5 ? 1 : 20), path);
        paged.push(...body.items.map((item) => name(item) ?? ''));
        cursor = body.nextCursor;
      }
      assert.deepEqual(paged, whole.items.map(name), `${path}: page by page it is the same list`);
      for (const limit of ['0', '201', '-1', '1.5', 'ten', '', '1e1', '0x10', '+5', '%205', '5.0']) {
        await refused(api.get(`${path}?limit=${limit}`), 400, 'invalid_request', /limit/);
      }
      for (const wrong of ['nonsense', '', 'bnVsbA', 'WzEsMl0']) {
        await refused(api.get(`${path}?cursor=${wrong}`), 400, 'invalid_cursor');
      }
    }
  });

  test('a cursor is bound to its list, its integration and its owner', async (t) => {
    cites(t, 'contract-3-bound-cursor', 'contract-8-400-invalid-cursor');
    const [one, two] = [await created('/v2/integrations'), await created('/v2/integrations')];
    const below = ({ apiIntegrationId }: { apiIntegrationId: string }) => `/v2/integrations/${apiIntegrationId}`;
    for (const integration of [one, two]) {
      for (const i of [1, 2]) {
        assert.equal((await api.put(`${below(integration)}/members/m${i}`, {})).status, 201);
        assert.equal((await api.post(`${below(integration)}/chats`, {})).status, 201);
      }
    }
    const cursor = async (path: string): Promise<string> => {
      const { nextCursor } = (await api.get(`${path}?limit=1`)).body;
      assert.equal((await api.get(`${path}?limit=1&cursor=${nextCursor}`)).status, 200, path);
      return nextCursor;
    };
    const own = [`${below(one)}/members`, `${below(one)}/chats`, `${below(two)}/members`];
    const paths = [...own, '/v2/integrations', '/v2/api_keys'];
    await created('/v2/api_keys');
    for (const from of paths) {
      const found = await cursor(from);
      for (const to of [...paths, `${below(one)}/runs`, `${below(one)}/usage`, `${below(one)}/files`, '/v2/agencies']) {
        if (to !== from) await refused(api.get(`${to}?cursor=${found}`), 400, 'invalid_cursor');
      }
    }
    const other = api.as((await created('/v2/owners', { email: 'cursor@example.com' })).apiKey);
    await refused(other.get(`/v2/integrations?cursor=${await cursor('/v2/integrations')}`), 400, 'invalid_cursor');
  });

  test('a cursor is bound to the filters of its list', async (t) => {
    cites(t, 'contract-3-bound-cursor', 'contract-8-400-invalid-cursor');
    const { apiIntegrationId } = await created('/v2/integrations');
    for (let i = 0; i < 2; i += 1) {
      const answer = await api.complete({ apiIntegrationId, message: 'Hi' });
      await answer.whole();
    }
    const below = `/v2/integrations/${apiIntegrationId}`;
    const lists = {
      [`${below}/runs`]: [
        'agent=Concierge',
        'status=completed',
        'from=2020-01-01T00:00:00Z',
        'to=2100-01-01T00:00:00Z',
      ],
      [`${below}/usage`]: ['from=2020-01-01T00:00:00Z', 'to=2100-01-01T00:00:00Z'],
      [`${below}/chats`]: ['status=idle', 'updatedAfter=2020-01-01T00:00:00Z'],
    };
    for (const [path, filters] of Object.entries(lists)) {
      const [one = '', two = ''] = filters;
      for (const filter of ['', ...filters, `${one}&${two}`]) {
        const { nextCursor } = (await api.get(`${path}?limit=1&${filter}`)).body;
        assert.equal(typeof nextCursor, 'string', `${path}?${filter}`);
        for (const other of ['', ...filters, `${two}&${one}`]) {
          const isSame = other === filter || (other.includes('&') && filter.includes('&'));
          const next = api.get(`${path}?limit=2&${other}&cursor=${nextCursor}`);
          if (isSame) assert.equal((await next).status, 200, `${path}?${filter}`);
          else await refused(next, 400, 'invalid_cursor');
        }
      }
    }
  });

  test('refuses unknown and repeated query parameters below /v2 by name', async (t) => {
    cites(t, 'contract-3-unknown-parameter');
    const all = Object.values(operations as Record<string, Operation>).filter(({ path }) => path.startsWith('/v2/'));
    assert.ok(all.length > 30);
    for (const { method, path, query, body } of all) {
      const address = path.replace(':apiIntegrationId', 'demo').replace(/:[A-Za-z]+/g, 'some-id');
      const sent = body === undefined ? undefined : {};
      const ask = async (parameters: string, says: RegExp) => {
        const answer = await api.call(method, `${address}?${parameters}`, sent);
        assert.equal(answer.status, 400, `${method} ${address}?${parameters}`);
        if (method === 'HEAD') return;
        assert.equal(answer.body.code, 'invalid_request');
        assert.match(answer.body.error, says);
      };
      await ask('consumerID=ann', /^`consumerID` is not a query parameter of this operation; it takes /);
      await ask('constructor=1', /^`constructor` is not/);
      const [known] = Object.keys((query as { properties?: object } | undefined)?.properties ?? {});
      if (known !== undefined) await ask(`${known}=1&${known}=1`, new RegExp(`^\`${known}\` is given more than once`));
    }
    const csv = await api.get('/v2/integrations/demo/usage?format=csv&consumer=ann');
    assert.deepEqual([csv.status, csv.body.code], [400, 'invalid_request']);
  });
}
