import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type ApiClient, STORES, type StoreName, startTestServer, type TestServer } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { refused } from './support/refused.ts';

/** Ids with names, in the order of their registration. Null: no name. */
const MEMBERS = {
  'user-1': 'Ann',
  'user-2': 'ANNA',
  'USER-3': 'ann',
  'anna@example.com': null,
  'x-1': 'Änne',
  'x-2': 'änne',
  'x-3': '"Ann"',
  'x-4': 'a%',
  'x-5': 'a_c',
  'x-6': 'a\\b',
  'x-7': '\u0001control',
  'x-9': '\u{10FFFF}\u{10FFFF}last',
  '\u{10FFFF}id': '😀 smile',
  Ünal: 'Bea',
  'a%1': 'Ceci',
  "o'neil": "O'Neil",
  erased_: 'null',
  'm-1': 'Anna Maria van der Berg',
  'm-2': 'Bob Ann Ann',
} as const;

/** The id, and the name from each of its first four words on. */
function searchedTexts([id, name]: readonly [string, string | null]): readonly string[] {
  const words = name === null ? [] : name.split(' ');
  return [id, ...words.slice(0, 4).map((_, index) => words.slice(index).join(' '))];
}

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  let server: TestServer;
  let api: ApiClient;
  before(async () => {
    server = await startTestServer({ store });
    api = server.api;
  });
  after(() => server[Symbol.asyncDispose]());

  async function integrationWith(members: Readonly<Record<string, string | null>>) {
    const { apiIntegrationId } = (await api.post('/v2/integrations', {})).body;
    const below = `/v2/integrations/${apiIntegrationId}/members`;
    for (const [id, name] of Object.entries(members)) {
      const { status, body } = await api.put(`${below}/${encodeURIComponent(id)}`, { name });
      assert.equal(status, 201, JSON.stringify(body));
    }
    return below;
  }

  async function found(below: string, q: string, limit = 3): Promise<string[]> {
    const ids: string[] = [];
    let cursor = '';
    do {
      const { status, body } = await api.get(`${below}?limit=${limit}&q=${encodeURIComponent(q)}${cursor}`);
      assert.equal(status, 200, JSON.stringify(body));
      assert.ok(body.items.length <= limit);
      ids.push(...body.items.map(({ consumerId }: { consumerId: string }) => consumerId));
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`;
    } while (cursor !== '');
    return ids;
  }

  test('finds members by the start of id or of a word of the name, newest first', async (t) => {
    cites(t, 'clients-18-member-search');
    const below = await integrationWith(MEMBERS);
    await integrationWith({ 'user-of-another': 'Ann' });
    const fold = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    const expected = (q: string) =>
      Object.entries(MEMBERS)
        .filter((member) => searchedTexts(member).some((text) => fold(text).startsWith(fold(q))))
        .map(([id]) => id)
        .toReversed();
    const starts = Object.entries(MEMBERS).flatMap((member) =>
      searchedTexts(member).flatMap((text) =>
        [1, 2, 4, 99].map((length) => Array.from(text).slice(0, length).join('')),
      ),
    );
    const others = [
      'ANN',
      'aNN',
      'a%b',
      '%',
      '_',
      '"',
      '\\',
      'nn',
      'user_1',
      'ä',
      'ÜNAL',
      'ünal',
      '😀',
      '😁',
      'null',
      'zz',
      'berg',
      ' ',
    ];
    // A control character cannot be searched for.
    const sent = [...new Set([...starts, ...others])].filter((q) => !q.includes('\u0001'));
    assert.ok(sent.length > 50);
    for (const q of sent) {
      for (const limit of [2, 50]) assert.deepEqual(await found(below, q, limit), expected(q), JSON.stringify(q));
    }
    assert.deepEqual(await found(below, 'ann'), ['m-2', 'm-1', 'anna@example.com', 'USER-3', 'user-2', 'user-1']);
    assert.deepEqual(await found(below, 'Änne'), ['x-1'], 'beyond A to Z the case matters');
  });

  test('follows changes of members', async () => {
    const below = await integrationWith({ ann: 'Ann', ben: 'Ben' });
    await api.put(`${below}/ben`, { name: 'Annabel' });
    assert.deepEqual(await found(below, 'ANN'), ['ben', 'ann']);
    await api.put(`${below}/ben`, { name: 'Ben Annabel' });
    assert.deepEqual(await found(below, 'ANN'), ['ben', 'ann']);
    await api.put(`${below}/ben`, { name: null });
    assert.deepEqual(await found(below, 'ann'), ['ann']);
    await api.delete(`${below}/ann`);
    assert.deepEqual(await found(below, 'ann'), []);
    await api.put(`${below}/ann`, {});
    assert.deepEqual(await found(below, 'a'), ['ann']);
  });

  test('refuses a search for nothing, and a cursor of another search', async () => {
    const below = await integrationWith({ a1: null, a2: null, a3: null });
    for (const q of ['', '%00', '%0A', 'a'.repeat(257)]) {
      await refused(api.get(`${below}?q=${q}`), 400, 'invalid_request', /`?q`?/);
    }
    const { nextCursor } = (await api.get(`${below}?q=a&limit=1`)).body;
    for (const other of ['', 'q=A&', 'q=a1&']) {
      await refused(api.get(`${below}?${other}cursor=${nextCursor}`), 400, 'invalid_cursor');
    }
  });
}
