import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Operation, operations } from '@runwire/contract/schemas';
import { type ApiClient, hookStore, STORES, type StoreName, startTestServer, type TestServer } from '@runwire/test-kit';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import pino from 'pino';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { ConsolePage, getSecret, PASSWORD } from './support/console-page.ts';
import { forgedToken, toPart } from './support/forged-token.ts';
import { refused } from './support/refused.ts';

const DAY_MS = 86_400_000;
const SECRET = 'a-secret-of-my-own-0123456789-0123456789';
const ENV = { RUNWIRE_TRUSTED_PROXIES: '127.0.0.1, ::1', RUNWIRE_SECRET: SECRET };
const ENDED = [401, 'session_ended'];
const WRONG = [401, 'invalid_sign_in'];
const LIMITED = [429, 'too_many_sign_ins'];

/** Stores the newest failure of an address again, as often. A failure by a guess costs 0.1 s of CPU. */
async function repeatFailures(dataDir: string, times: number): Promise<void> {
  for (let copy = 1; copy <= times; copy += 1) {
    await askStore(
      dataDir,
      `insert into sign_in_failures select failure_id || '-${copy}', subject, failed_at from sign_in_failures
         where subject like 'address:%' and failure_id not like '%-%' order by failed_at desc limit 1`,
    );
  }
}

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  let server: TestServer;
  let api: ApiClient;
  let people = 0;
  /** What was shown once, and everything that was shown later. */
  const secrets = new Set<string>([PASSWORD]);
  const shown: [where: string, text: string][] = [];
  /** What happens once, after the server has read the answer of this statement and before it uses it. */
  let between: { readonly statement: string; readonly act: () => Promise<void> } | null = null;
  async function aroundRead<R>(statement: string, read: () => Promise<R[]>): Promise<R[]> {
    const rows = await read();
    if (statement !== between?.statement) return rows;
    const { act } = between;
    between = null;
    await act();
    return rows;
  }
  before(async () => {
    const logger = pino({ level: 'debug' }, { write: (line: string) => void shown.push(['the log', line]) });
    server = await startTestServer({ store, env: ENV, logger, wrapStore: hookStore({ read: aroundRead }) });
    api = server.api;
  });
  after(() => server[Symbol.asyncDispose]());

  const page = (address?: string) => new ConsolePage(server.url, address);

  async function invite() {
    people += 1;
    const { status, body } = await api.post('/v2/owners', { email: `person-${people}@example.com` });
    assert.equal(status, 201);
    secrets.add(body.apiKey).add(getSecret(body.setupLink));
    return body as { ownerId: string; email: string; apiKey: string; setupLink: string };
  }

  /** A new owner who has set a password and is signed in. */
  async function person() {
    const { ownerId, email, apiKey, setupLink } = await invite();
    const own = page();
    assert.deepEqual(await own.setUp(setupLink, email), [204]);
    secrets.add(String(own.cookie));
    return { ownerId, email, apiKey, page: own };
  }

  async function secondPage(email: string) {
    const other = page();
    assert.deepEqual(await other.signIn(email), [204]);
    return other;
  }

  const change = (statement: string) => askStore(server.dataDir, statement);

  test('the first link sets e-mail and password of the administrator, once', async (t) => {
    cites(
      t,
      'clients-17-set-up',
      'clients-17-link',
      'clients-17-cookie',
      'contract-8-400-invalid-set-up-link',
      'contract-2-sign-in',
    );
    const own = page();
    const setupLink = server.server.setupLink ?? '';
    assert.ok(setupLink.startsWith(`${server.url}/console/#set_up=`));
    const body = { link: getSecret(setupLink), email: 'Root@Example.com', password: PASSWORD };
    const answer = await own.post('set_up', body);
    assert.equal(answer.status, 204);
    assert.match(
      answer.headers.get('set-cookie') ?? '',
      /^runwire_session=[\w-]{43}; Max-Age=2592000; Path=\/console\/; HttpOnly; SameSite=Strict$/,
    );
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    const me = (await (await own.api()).get('/v2/me')).body;
    assert.deepEqual([me.email, me.administrator], ['root@example.com', true]);
    assert.deepEqual(await own.setUp(setupLink, 'root@example.com'), [400, 'invalid_set_up_link']);
    assert.deepEqual(await page().signIn('ROOT@example.com'), [204]);
  });

  test('a console token is a JWT of its own kind and counts as the person', async (t) => {
    cites(t, 'clients-17-console-token', 'clients-17-token');
    const { ownerId, email, page: own } = await person();
    const { status, body, headers } = await own.post('token');
    assert.deepEqual([status, headers.get('cache-control')], [200, 'no-store']);
    const token = body.token ?? '';
    assert.deepEqual(toPart(token, 0), { alg: 'HS256', typ: 'console+jwt' });
    const { sub, sid, exp, ...rest } = toPart(token, 1);
    assert.deepEqual([sub, new Date(exp * 1000).toISOString(), rest], [ownerId, body.expiresAt, {}]);
    const seconds = exp - Date.now() / 1000;
    assert.ok(seconds > 540 && seconds <= 600, String(seconds));
    const { key, ...me } = (await api.as(token).get('/v2/me')).body;
    const shown = { email, name: null };
    const first = { personId: ownerId, ...shown, role: 'manager' };
    assert.deepEqual(me, { ownerId, ...shown, administrator: false, person: first });
    assert.deepEqual([key.keyId, key.name], [sid, 'console']);
    assert.equal((await api.as(token).post('/v2/integrations', {})).status, 201);
    await refused(api.as(token).get('/v2/nodes'), 403, 'administrator_only');
    const forged = forgedToken({ sub, sid, exp }, 'console+jwt', SECRET);
    await refused(api.as(forged).get('/v2/me'), 401, 'invalid_api_key', /console token is not valid/);
    const asKey = forgedToken({ sub, jti: sid, exp }, 'JWT', SECRET);
    await refused(api.as(asKey).get('/v2/me'), 401, 'invalid_api_key', /API key is not valid/);
  });

  test('no operation accepts the cookie, as cookie or as bearer token', async (t) => {
    cites(t, 'contract-2-no-cookie');
    const { page: own } = await person();
    await own.api();
    const cookie = `runwire_session=${own.cookie}`;
    const keyed = Object.entries(operations as Record<string, Operation>).filter(([, { auth }]) => auth);
    assert.ok(keyed.length > 30);
    for (const [id, { method, path }] of keyed) {
      assert.doesNotMatch(path, /console/);
      const filled = path.replace(/:[A-Za-z]+/g, 'some-id');
      const more = [{ authorization: `Bearer ${own.cookie}` }, { authorization: '', cookie }];
      for (const headers of [{ cookie }, ...scale([], more)]) {
        const answer = await fetch(server.url + filled, { method, headers });
        await answer.arrayBuffer();
        expectEqual(`${id} with the cookie: status`, answer.status, 401);
      }
    }
    count({ operations: keyed.length });
    await refused(api.as(own.cookie).get('/v2/me'), 401, 'invalid_api_key');
  });

  test('a link is refused after its time and after its use; a refusal keeps it', async (t) => {
    cites(t, 'clients-17-link', 'clients-17-weak-password', 'contract-8-400-weak-password');
    const { ownerId, email, setupLink } = await invite();
    const own = page();
    const invalid = [400, 'invalid_set_up_link'];
    assert.deepEqual(await own.setUp(`/console/#set_up=${'a'.repeat(43)}`, email), invalid);
    const weak = [400, 'weak_password'];
    for (const password of ['elevenchars', 'x'.repeat(40), 'abcdefg'.repeat(147), email, email.toUpperCase()]) {
      assert.deepEqual(await own.setUp(setupLink, email, password), weak, password);
    }
    assert.deepEqual(await own.setUp(setupLink, 'not an e-mail'), [400, 'invalid_request']);
    const other = await invite();
    assert.deepEqual(await own.setUp(setupLink, other.email), [409, 'owner_exists']);
    await change(`update set_up_links set expires_at = ${Date.now() - 1} where owner_id = '${ownerId}'`);
    assert.deepEqual(await own.setUp(setupLink, email), invalid);
    await change(`update set_up_links set expires_at = ${Date.now() + 60_000} where owner_id = '${ownerId}'`);
    const accented = 'éàüöçñîôêåëï';
    assert.deepEqual(await own.setUp(setupLink, email, accented), [204], 'refusals did not use it');
    assert.deepEqual(await own.setUp(setupLink, email), invalid);
    assert.deepEqual(await page().signIn(email, accented.normalize('NFD')), [204], 'as another keyboard writes it');
  });

  test('of several uses of a link, one succeeds', async () => {
    const { email, setupLink } = await invite();
    const uses = scale(3, 8);
    const results = await Promise.all(Array.from({ length: uses }, () => page().setUp(setupLink, email)));
    expectEqual('uses of one link', results.filter(([status]) => status === 204).length, 1);
    assert.equal(results.filter(([status]) => status === 400).length, uses - 1);
    count({ links: 1 });
  });

  test('a wrong password and an unknown e-mail get the same answer', async (t) => {
    cites(t, 'clients-17-sign-in', 'contract-8-401-invalid-sign-in');
    const { email } = await person();
    const { email: withoutPassword } = await invite();
    const answers = [];
    for (const [name, password] of [
      [email, 'wrong'],
      ['nobody@example.com', PASSWORD],
      [withoutPassword, PASSWORD],
    ] as const) {
      const { status, body } = await page().post('sign_in', { email: name, password });
      answers.push({ status, body });
    }
    assert.deepEqual([answers[0]?.status, answers[0]?.body.code], WRONG);
    for (const answer of answers) assert.deepEqual(answer, answers[0]);
    assert.deepEqual(await page().signIn(email), [204]);
  });

  test('after 5 failures of an e-mail the right password is refused too', async (t) => {
    cites(t, 'clients-17-email-limit', 'contract-8-429-too-many-sign-ins');
    const { email } = await person();
    for (let guess = 0; guess < 4; guess += 1) assert.deepEqual(await page().signIn(email, 'wrong'), WRONG);
    assert.deepEqual(await page().signIn(email), [204], 'a success forgets the failures of the e-mail');
    for (let guess = 0; guess < 5; guess += 1) assert.deepEqual(await page().signIn(email, 'wrong'), WRONG);
    const { status, body, headers } = await page().post('sign_in', { email, password: PASSWORD });
    assert.deepEqual([status, body.code], LIMITED);
    const wait = Number(headers.get('retry-after'));
    assert.ok(wait > 840 && wait <= 900, String(wait));
    await change(`update sign_in_failures set failed_at = failed_at - ${15 * 60_000}`);
    assert.deepEqual(await page().signIn(email), [204]);
  });

  test('concurrent guesses do not get around the limit', async (t) => {
    cites(t, 'clients-17-email-limit');
    const { email } = await person();
    const guesses = scale(12, 60);
    const guess = async (guessed: (index: number) => Promise<unknown[]>) => {
      const results = await Promise.all(Array.from({ length: guesses }, (_, index) => guessed(index)));
      const wrong = results.filter(([status]) => status === 401).length;
      expectEqual('guesses that were refused', results.filter(([status]) => status === 429).length, guesses - wrong);
      return wrong;
    };
    expectEqual('checked passwords of one e-mail', await guess((index) => page().signIn(email, `guess ${index}`)), 5);
    expectEqual('the right password after that', await page().signIn(email), LIMITED);
    // Each check of a password costs 0.1 s of CPU.
    if (scale(true, false)) return;
    const unknown = (index: number) => page('203.0.113.77').signIn(`nobody-${index}@example.com`);
    expectEqual('checked passwords of one address', await guess(unknown), 20);
  });

  test('after 20 failures of an address it is refused, whatever the e-mail', async (t) => {
    cites(t, 'clients-17-address-limit', 'clients-17-address');
    const { email } = await person();
    const own = page('203.0.113.9');
    assert.deepEqual(await own.signIn('unknown-1@example.com'), WRONG);
    await repeatFailures(server.dataDir, 18);
    assert.deepEqual(await own.signIn(email), [204], 'a success does not forget them');
    assert.deepEqual(await own.signIn('unknown-2@example.com'), WRONG);
    assert.deepEqual(await own.signIn(email), LIMITED);
    const claims = { 'x-forwarded-for': '192.0.2.1, 203.0.113.9' };
    assert.deepEqual(await own.result('sign_in', { email, password: PASSWORD }, claims), LIMITED);
    assert.deepEqual(await page().signIn(email), [204]);
  });

  test('only pages of the console may post', async (t) => {
    cites(t, 'clients-17-same-origin');
    const { email, page: own } = await person();
    const host = new URL(server.url).host;
    const foreign = [403, 'foreign_origin', null];
    const body = { email, password: PASSWORD };
    for (const origin of [`http://${host}`, `https://${host}`]) {
      assert.equal((await own.postPlain('sign_in', body, { origin })).status, 204, origin);
    }
    const others: readonly Readonly<Record<string, string>>[] = [
      {},
      { origin: 'null' },
      { origin: 'https://evil.example' },
      { origin: `https://${host}.evil.example` },
      { origin: `http://${host.split(':')[0]}:1` },
      ...['cross-site', 'same-site', 'none', '', 'same-origin, cross-site'].map((site) => ({ 'sec-fetch-site': site })),
      { 'sec-fetch-site': 'cross-site', origin: `http://${host}` },
    ];
    for (const path of ['sign_in', 'token', 'sign_out', 'sign_out_everywhere', 'set_up', 'password']) {
      for (const headers of scale(path === 'sign_in' ? others : others.slice(-1), others)) {
        const { status, body: answer, headers: sent } = await own.postPlain(path, body, headers);
        expectEqual(`${path} ${JSON.stringify(headers)}`, [status, answer.code, sent.get('set-cookie')], foreign);
        count({ foreign: 1 });
      }
    }
    assert.equal((await own.post('token')).status, 200, 'a foreign page cannot end the session');
  });

  test('bodies are small JSON objects with exactly the fields', async (t) => {
    cites(t, 'clients-17-bodies');
    const { email, page: own } = await person();
    const typed = { 'content-type': 'text/plain' };
    assert.deepEqual(await own.result('sign_in', { email, password: PASSWORD }, typed), [
      415,
      'unsupported_media_type',
    ]);
    const large = { email, password: 'x'.repeat(40_000) };
    assert.deepEqual(await own.result('sign_in', large), [413, 'body_too_large']);
    const wrong = [
      {},
      { email },
      { email, password: 5 },
      { email, password: '' },
      { email, password: PASSWORD, to: 1 },
    ];
    for (const body of wrong) assert.deepEqual(await own.result('sign_in', body), [400, 'invalid_request']);
    assert.deepEqual(await own.result('token', { any: 1 }), [400, 'invalid_request']);
    const bodiless = await fetch(`${server.url}/console/token`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin', cookie: `runwire_session=${own.cookie}` },
    });
    assert.equal(bodiless.status, 200);
    const twice = { cookie: `runwire_session=${own.cookie}; runwire_session=${own.cookie}` };
    assert.deepEqual(await own.result('token', {}, twice), ENDED, 'another site of the domain set one of them');
  });

  test('signing out ends the session and its tokens, here or everywhere', async (t) => {
    cites(t, 'clients-17-sign-out', 'clients-17-token', 'contract-8-401-session-ended');
    const { email, page: first } = await person();
    const [second, third] = [await secondPage(email), await secondPage(email)];
    const tokens = await Promise.all([first, second, third].map((one) => one.api()));
    const cookie = first.cookie;
    const answer = await first.post('sign_out');
    assert.equal(answer.status, 204);
    assert.match(answer.headers.get('set-cookie') ?? '', /^runwire_session=; Max-Age=0; Path=\/console\/; HttpOnly/);
    first.cookie = cookie;
    assert.deepEqual(await first.result('token'), ENDED);
    assert.deepEqual(await first.result('sign_out_everywhere'), ENDED, 'a stolen cookie of an ended session');
    assert.deepEqual(await page().result('sign_out'), [204], 'without a session');
    await refused(tokens[0]?.get('/v2/me') as never, 401, 'invalid_api_key', /session .* has ended/);
    assert.equal((await tokens[1]?.get('/v2/me'))?.status, 200);
    assert.deepEqual(await second.result('sign_out_everywhere'), [204]);
    assert.deepEqual(await third.result('token'), ENDED);
    for (const token of tokens) await refused(token.get('/v2/me'), 401, 'invalid_api_key');
  });

  test('a client token of a session ends with the session', async (t) => {
    cites(t, 'clients-17-client-tokens');
    const { page: own } = await person();
    const owner = await own.api();
    const { apiIntegrationId: id } = (await owner.post('/v2/integrations', {})).body;
    await owner.put(`/v2/integrations/${id}/members/ann`, {});
    const fields = { consumerId: 'ann', expiresInSeconds: 3600 };
    const minted = (await owner.post(`/v2/integrations/${id}/client_tokens`, fields)).body;
    assert.equal(toPart(minted.clientToken, 1).key, (await owner.get('/v2/me')).body.key.keyId);
    assert.ok(Date.parse(minted.expiresAt) > Date.now() + 3_000_000, 'it outlives the console token');
    const member = api.as(minted.clientToken);
    assert.equal((await member.get(`/v2/integrations/${id}/chats`)).status, 200);
    assert.deepEqual(await own.result('sign_out'), [204]);
    await refused(member.get(`/v2/integrations/${id}/chats`), 401, 'invalid_api_key', /session .* has ended/);
  });

  test('a new password ends the other sessions; the old one is wrong', async (t) => {
    cites(t, 'clients-17-password');
    const { email, page: own } = await person();
    const other = await secondPage(email);
    const next = 'another long password';
    const body = { current: PASSWORD, new: next };
    assert.deepEqual(await page().result('password', body), ENDED);
    assert.deepEqual(await own.result('password', { current: PASSWORD, new: 'short' }), [400, 'weak_password']);
    assert.deepEqual(await own.result('password', { current: next, new: next }), WRONG);
    assert.deepEqual(await own.result('password', body), [204]);
    assert.equal((await own.post('token')).status, 200);
    assert.deepEqual(await other.result('token'), ENDED);
    assert.deepEqual(await page().signIn(email), WRONG);
    assert.deepEqual(await page().signIn(email, next), [204]);
    for (let guess = 0; guess < 5; guess += 1) await own.result('password', { current: 'wrong', new: PASSWORD });
    assert.deepEqual(await own.result('password', { current: next, new: PASSWORD }), LIMITED, 'no way to guess');
  });

  test('a sign-in with the old password does not survive its change', async () => {
    const { email, ownerId, page: own } = await person();
    const next = 'another long password';
    const changed = async () => assert.deepEqual(await own.result('password', { current: PASSWORD, new: next }), [204]);
    const deleted = async () => assert.equal((await api.delete(`/v2/owners/${ownerId}`)).status, 204);
    between = { statement: 'password by email', act: changed };
    assert.deepEqual(await page().signIn(email), WRONG);
    between = { statement: 'password by email', act: deleted };
    assert.deepEqual(await page().signIn(email, next), WRONG);
    assert.deepEqual(await change(`select * from sessions where owner_id = '${ownerId}'`), []);
  });

  test('a session ends after 7 idle days and after 30 days; the sweep deletes it', async (t) => {
    cites(t, 'clients-17-session');
    const { ownerId, email, page: own } = await person();
    const move = (column: string, ms: number) =>
      change(`update sessions set ${column} = ${column} - ${ms} where owner_id = '${ownerId}'`);
    await move('used_at', 7 * DAY_MS - 60_000);
    assert.equal((await own.post('token')).status, 200);
    await move('used_at', 7 * DAY_MS - 60_000);
    assert.equal((await own.post('token')).status, 200, 'its use prolonged it');
    await move('used_at', 7 * DAY_MS);
    assert.deepEqual(await own.result('token'), ENDED);
    const other = await secondPage(email);
    await move('created_at', 30 * DAY_MS - 300_000);
    const expiresAt = Date.parse((await other.post('token')).body.expiresAt ?? '');
    assert.ok(expiresAt <= Date.now() + 300_000, 'a token does not outlive its session');
    await move('created_at', 300_000);
    assert.deepEqual(await other.result('token'), ENDED);
    const { email: late } = await invite();
    await change(`update set_up_links set expires_at = 1 where expires_at is not null`);
    await page().signIn(late, 'wrong');
    await change('update sign_in_failures set failed_at = 1');
    assert.ok((await server.server.probes.sweepSignIns()) >= 5);
    assert.deepEqual(await change(`select * from sessions where owner_id = '${ownerId}'`), []);
    for (const table of ['set_up_links where expires_at is not null', 'sign_in_failures']) {
      assert.deepEqual(await change(`select * from ${table}`), [], table);
    }
  });

  test('the store has no password, no cookie, no link and no key', async (t) => {
    cites(t, 'clients-17-stored');
    const { email, apiKey, page: own } = await person();
    const { setupLink } = await invite();
    await page().signIn('someone.else@example.com', 'wrong');
    const rows = [];
    for (const table of ['owners', 'api_keys', 'passwords', 'sessions', 'set_up_links', 'sign_in_failures']) {
      rows.push(...(await change(`select * from ${table}`)));
    }
    const stored = JSON.stringify(rows);
    assert.ok(stored.includes(email));
    assert.match(stored, /\$argon2id\$v=19\$m=\d+,t=\d,p=1\$/);
    const secrets = [PASSWORD, own.cookie ?? '', getSecret(setupLink), apiKey, 'someone.else'];
    for (const secret of secrets) assert.ok(!stored.includes(secret), secret);
  });

  test('nothing is created for an owner that was deleted concurrently', async () => {
    for (const path of ['/v2/integrations', '/v2/api_keys']) {
      const { ownerId, apiKey } = await invite();
      const act = async () => assert.equal((await api.delete(`/v2/owners/${ownerId}`)).status, 204);
      // The administrator's key is cached, so this is the new owner's read.
      assert.equal((await api.get('/v2/me')).status, 200);
      between = { statement: 'owner by id', act };
      await refused(api.as(apiKey).post(path, {}), 401, 'invalid_api_key');
      assert.equal(between, null);
      for (const table of ['integrations', 'api_keys']) {
        assert.deepEqual(await change(`select * from ${table} where owner_id = '${ownerId}'`), [], table);
      }
    }
  });

  test('a deleted owner is signed out everywhere', async (t) => {
    cites(t, 'clients-17-deleted-owner');
    const { ownerId, email, page: own } = await person();
    const token = await own.api();
    assert.equal((await api.delete(`/v2/owners/${ownerId}`)).status, 204);
    await refused(token.get('/v2/me'), 401, 'invalid_api_key');
    assert.deepEqual(await own.result('token'), ENDED);
    assert.deepEqual(await page().signIn(email), WRONG);
  });

  test('no answer and no log line has a secret that was shown once', async () => {
    const { page: own } = await person();
    const owner = await own.api();
    const { apiKey } = (await owner.post('/v2/api_keys', {})).body;
    secrets.add(String(owner.apiKey)).add(apiKey);
    const read = async ({ url, authorization }: ApiClient, path: string): Promise<string> => {
      const answer = await fetch(url + path, { headers: authorization, redirect: 'manual' });
      return `${JSON.stringify([...answer.headers])}${await answer.text()}`;
    };
    for (const [id, { method, path }] of Object.entries(operations as Record<string, Operation>)) {
      const filled = path.replace(':apiIntegrationId', 'demo').replace(/:[A-Za-z]+/g, 'some-id');
      if (method === 'GET') for (const reader of [api, owner]) shown.push([id, await read(reader, filled)]);
    }
    for (const path of ['sign_in', 'sign_out', 'sign_out_everywhere', 'set_up', 'password']) {
      shown.push([path, JSON.stringify((await own.post(path, { link: apiKey, email: 'x', password: apiKey })).body)]);
    }
    const places = shown.filter(([, text]) => [...secrets].some((secret) => text.includes(secret)));
    expectEqual('places with a secret that was shown once', places, []);
    assert.ok(shown.some(([where]) => where === 'the log'));
    count({ leaks: places.length, read: shown.length });
  });
}

test('without trusted proxies the address is the peer, whatever a client claims', async (t) => {
  cites(t, 'clients-17-address');
  await using server = await startTestServer();
  const signIn = (email: string) => new ConsolePage(server.url).signIn(email);
  assert.deepEqual(await signIn('unknown-1@example.com'), WRONG);
  await repeatFailures(server.dataDir, 18);
  assert.deepEqual(await signIn('unknown-2@example.com'), WRONG);
  assert.deepEqual(await signIn('unknown-3@example.com'), LIMITED);
});

test('with an https address the cookie is Secure and has the path of the console', async (t) => {
  cites(t, 'clients-17-cookie');
  const publicUrl = 'https://agents.example.com/runwire';
  // This server has the cost of hashes in production.
  await using server = await startTestServer({ env: { RUNWIRE_PUBLIC_URL: publicUrl }, hashCost: undefined });
  const setupLink = server.server.setupLink ?? '';
  assert.ok(setupLink.startsWith(`${publicUrl}/console/#set_up=`));
  const invited = (await server.api.post('/v2/owners', { email: 'ann@example.com' })).body.setupLink;
  assert.ok(invited.startsWith(`${publicUrl}/console/#set_up=`));
  const page = new ConsolePage(server.url);
  const origin = { origin: 'https://agents.example.com' };
  const body = { link: getSecret(setupLink), email: 'root@example.com', password: PASSWORD };
  assert.equal((await page.postPlain('set_up', body, origin)).status, 204);
  const { headers } = await page.post('sign_in', { email: body.email, password: PASSWORD });
  const cookie = /; Path=\/runwire\/console\/; HttpOnly; SameSite=Strict; Secure$/;
  assert.match(headers.get('set-cookie') ?? '', cookie);
  const [password] = await askStore(server.dataDir, 'select * from passwords');
  assert.match(JSON.stringify(password), /\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});
