import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, freePort, type ModelCall, TEST_API_KEY } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { listSamples, paste } from './support/doc-samples.ts';
import { clientTokenKey, forgedToken, toPart } from './support/forged-token.ts';
import { refusal, ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';
import { signing, upload } from './support/uploads.ts';

const noCurl = (await missingService('curl')) ?? false;

type Completion = Parameters<ApiClient['complete']>[0];

const SECRET = 'a-secret-of-my-own-0123456789-0123456789';
const HOME = '/v2/integrations/pages';
const MINE = '/app/mnt/members/ann';
const ALL = ['run', 'read', 'upload', 'files', 'answer'];

describe('client tokens', () => {
  const rig = ScriptedServer.shared({ env: { RUNWIRE_SECRET: SECRET }, limits: { accountsVersionMs: 200 } });

  before(async () => {
    await rig.api.post('/v2/integrations', { apiIntegrationId: 'pages', agency: 'test' });
    for (const member of ['ann', 'bob']) await rig.member('pages', member);
  });

  async function mint(fields: object = {}, by: ApiClient = rig.api) {
    const { status, body } = await by.post(`${HOME}/client_tokens`, { consumerId: 'ann', ...fields });
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  }

  /** A page that holds a new token. */
  const page = async (fields: object = {}, by?: ApiClient) => rig.api.as((await mint(fields, by)).clientToken);

  const getCode = async (answer: Promise<{ status: number; body: { code?: string } }>) => {
    const { status, body } = await answer;
    return [status, body.code];
  };

  const FORBIDDEN = [403, 'token_forbidden'];
  /** Sends a body without the default integration of the client. */
  const send = (by: ApiClient, body: object) =>
    by.complete({ apiIntegrationId: undefined, ...body } as object as Completion);

  const refused = async (by: ApiClient, body: object) => {
    const { status, body: answer } = await refusal(await send(by, body));
    return [status, answer.code];
  };

  /** Starts a run of this page and ends it. */
  async function answered(by: ApiClient, body: object = {}) {
    const reader = await send(by, body);
    assert.equal(reader.status, 200, reader.text);
    const call = await rig.controller.nextCall();
    await call.text('Hi');
    await call.end();
    await reader.whole();
    const { headers } = reader;
    return { headers, runId: String(headers['x-run-id']), chatId: decodeURIComponent(String(headers['x-chat-id'])) };
  }

  test('a token is a JWT of its own kind, with defaults', async (t) => {
    cites(t, 'clients-16-mint', 'clients-16-jwt', 'clients-16-default-folder');
    const { clientToken, expiresAt, ...shown } = await mint();
    const fields = { consumerId: 'ann', chatId: null, agent: null, can: ['run', 'read'], folder: null, origins: null };
    assert.deepEqual(shown, { apiIntegrationId: 'pages', ...fields });
    assert.deepEqual(toPart(clientToken, 0), { alg: 'HS256', typ: 'client+jwt' });
    const { sub, key, jti, exp, memberKey, ...claims } = toPart(clientToken, 1);
    assert.match(memberKey, /^\w{26}$/);
    assert.deepEqual(claims, { apiIntegrationId: 'pages', ...fields, userContext: null });
    assert.deepEqual(
      [sub, new Date(exp * 1000).toISOString()],
      [(await rig.api.get('/v2/me')).body.ownerId, expiresAt],
    );
    assert.match(jti, /^tok_/);
    assert.equal(Buffer.from(key, 'base64url').length, 16);
    const seconds = exp - Date.now() / 1000;
    assert.ok(seconds > 590 && seconds <= 601, String(seconds));
    const stored = (await rig.api.post('/v2/api_keys', { expiresAt: new Date(Date.now() + 60_000).toISOString() }))
      .body;
    const brief = await mint({}, rig.api.as(stored.apiKey));
    assert.equal(toPart(brief.clientToken, 1).key, stored.keyId);
    assert.ok(brief.expiresAt <= stored.expiresAt, 'a token does not outlive its key');
    assert.equal((await mint({ can: ['files'] })).folder, '/app/mnt/members/ann');
  });

  test('refuses to mint what a token cannot be', async (t) => {
    cites(t, 'clients-16-fields', 'clients-16-member');
    const status = (fields: object) => getCode(rig.api.post(`${HOME}/client_tokens`, { consumerId: 'ann', ...fields }));
    const invalid = [400, 'invalid_request'];
    const wrong = [
      { consumerId: undefined },
      { can: [] },
      { can: ['read', 'read'] },
      { can: ['everything'] },
      { expiresInSeconds: 29 },
      { expiresInSeconds: 3601 },
      { folder: '/app/mnt' },
      { folder: '/app/mnt/a/../b' },
      { origins: [] },
      { origins: ['https://app.example.com/'] },
      { origins: ['https://app.example.com:443'] },
      { origins: Array.from({ length: 11 }, (_, i) => `https://a${i}.example.com`) },
      { userContext: 'x'.repeat(4095) },
      // Too long for a header.
      { chatId: '😀'.repeat(256), userContext: 'x'.repeat(4000), agent: '😀'.repeat(256) },
      { user_context: {} },
    ];
    for (const fields of wrong) assert.deepEqual(await status(fields), invalid, JSON.stringify(fields).slice(0, 80));
    assert.deepEqual(await status({ consumerId: 'nobody' }), [404, 'member_not_found']);
    await rig.member('pages', 'idle', { active: false });
    assert.deepEqual(await status({ consumerId: 'idle' }), [429, 'consumer_inactive']);
    assert.deepEqual(await status({ userContext: 'x'.repeat(4094), origins: ['http://localhost:3000'] }), [
      201,
      undefined,
    ]);
    const apiIntegrationId = await rig.integration({ fileAccess: 'member' });
    await rig.member(apiIntegrationId, 'ann');
    const inFolder = (folder: string) =>
      getCode(rig.api.post(`/v2/integrations/${apiIntegrationId}/client_tokens`, { consumerId: 'ann', folder }));
    assert.deepEqual(await inFolder('/app/mnt/members/ann/deep'), [201, undefined]);
    assert.deepEqual(await inFolder('/app/mnt/members/ann2'), invalid);
  });

  test('a body may leave out the fields of the token, or repeat them', async (t) => {
    cites(t, 'clients-16-body-fields', 'clients-16-user-context', 'clients-16-body-forbidden', 'clients-16-can-answer');
    const by = await page({ chatId: 'own', agent: 'Writer' });
    const { runId, chatId } = await answered(by, { consumerId: ' ' });
    const { consumerId, agent } = (await rig.api.get(`${HOME}/runs/${runId}`)).body;
    assert.deepEqual([chatId, consumerId, agent], ['own', 'ann', 'Writer']);
    await answered(by, { apiIntegrationId: 'pages', consumerId: 'ann', chatId: 'own', agent: 'Writer' });
    const others = [
      { apiIntegrationId: 'demo' },
      { apiIntegrationId: 'unknown' },
      { consumerId: 'bob' },
      { chatId: 'other' },
      { agent: 'Clerk' },
      { aliasChatId: 'alias' },
      { answers: [] },
      { sandboxFiles: [{ name: 'a', path: `${MINE}/a` }] },
      // The token is checked before the body.
      { consumerId: 'bob', message: 5 },
    ];
    for (const body of others) assert.deepEqual(await refused(by, body), FORBIDDEN, JSON.stringify(body));
    assert.deepEqual(await refused(by, { consumerId: 5 }), [400, 'invalid_request']);
    for (const field of ['apiIntegrationId', 'consumerId', 'chatId', 'agent']) {
      assert.deepEqual(await refused(by, { [field]: null }), [400, 'invalid_request'], `${field} is null`);
    }
    const upload = { ...signing(1, { folder: MINE }), apiIntegrationId: null };
    const uploader = await page({ can: ['upload'] });
    assert.deepEqual(await getCode(uploader.post('/create_agency_upload', upload)), [400, 'invalid_request']);
    assert.deepEqual(await refused(by, { user_context: { admin: true } }), [400, 'invalid_request']);
    assert.deepEqual(await refused(by, { userContext: { admin: true } }), [400, 'invalid_request']);
    const { status, headers } = await by.complete({ apiIntegrationId: 'demo' });
    assert.deepEqual([status, headers['x-agent-run-admitted']], [403, 'false']);
  });

  test('tools get the context of the token, and a replay does not compare it', async (t) => {
    cites(t, 'clients-16-replay', 'clients-16-user-context');
    const body = { usageRequestId: 'context', chatId: 'context', agent: 'Clerk' };
    const by = await page({ userContext: { plan: 'pro' } });
    const reading = send(by, body);
    const call: ModelCall = await rig.controller.nextCall();
    await call.toolCall('c1', 'echo', '{}');
    await call.end();
    const next = await rig.controller.nextCall();
    const output = next.request.prompt.findLast((item) => item.kind === 'tool_output');
    assert.deepEqual(JSON.parse(output?.output ?? '').context, { plan: 'pro' });
    await next.end();
    const reader = await reading;
    await reader.whole();
    const runId = reader.headers['x-run-id'];
    for (const again of [
      await send(await page({ userContext: { plan: 'free' } }), body),
      await rig.api.complete({ ...body, apiIntegrationId: 'pages', consumerId: 'ann' }),
    ]) {
      await again.whole();
      assert.deepEqual([again.headers['x-run-replayed'], again.headers['x-run-id']], ['true', runId]);
    }
  });

  test('another member, and another chat, see nothing of a run', async (t) => {
    cites(t, 'clients-16-hidden', 'clients-16-can-read');
    const ids = { usageRequestId: 'hidden', chatId: 'hidden', aliasChatId: 'alias-of-hidden' };
    const { runId } = await answered(await page(), ids);
    const paths = {
      run_not_found: [
        `runs/${runId}`,
        `runs/${runId}/steps`,
        `runs/${runId}/events`,
        'chat_status?usageRequestId=hidden',
      ],
      chat_not_found: [
        'chats/hidden',
        'chats/hidden/messages',
        'chat_status?chatId=hidden',
        'chat_status?aliasChatId=alias-of-hidden',
      ],
    };
    const strangers = [await page({ consumerId: 'bob' }), await page({ chatId: 'another' })];
    const friends = [await page(), await page({ chatId: 'hidden' })];
    for (const [code, list] of Object.entries(paths)) {
      for (const path of list) {
        for (const by of strangers) assert.deepEqual(await getCode(by.get(`${HOME}/${path}`)), [404, code], path);
        for (const by of friends) assert.equal((await by.get(`${HOME}/${path}`)).status, 200, path);
      }
    }
    for (const by of strangers) {
      assert.deepEqual(await getCode(by.post(`${HOME}/runs/${runId}/cancel`)), [404, 'run_not_found']);
      const { body } = await refusal(await send(by, { usageRequestId: 'hidden' }));
      assert.deepEqual([body.code, JSON.stringify(body).includes(runId)], ['usage_request_id_reused', false]);
    }
    assert.deepEqual(await refused(strangers[0] as ApiClient, { chatId: 'hidden' }), [404, 'chat_not_found']);
  });

  test("lists show only the chats of the member, and their cursors are no one else's", async (t) => {
    cites(t, 'clients-16-lists');
    for (const [consumerId, chatId] of [
      ['ann', 'list-1'],
      ['ann', 'list-2'],
      ['bob', 'list-3'],
    ]) {
      assert.equal((await rig.api.post(`${HOME}/chats`, { consumerId, chatId })).status, 201);
    }
    const listed = async (by: ApiClient, query = '') =>
      (await by.get(`${HOME}/chats?limit=200${query}`)).body.items.map((chat: { chatId: string }) => chat.chatId);
    const ann = await page();
    const own = await listed(ann);
    assert.ok(own.includes('list-1') && own.includes('list-2') && !own.includes('list-3'));
    assert.deepEqual(await listed(ann, '&consumerId=bob'), []);
    assert.deepEqual(await listed(await page({ consumerId: 'bob' })), ['list-3']);
    assert.deepEqual(await listed(await page({ chatId: 'list-1' })), ['list-1']);
    const { nextCursor } = (await ann.get(`${HOME}/chats?limit=1`)).body;
    assert.equal((await ann.get(`${HOME}/chats?limit=1&cursor=${nextCursor}`)).status, 200);
    for (const other of [rig.api, await page({ chatId: 'list-1' })]) {
      assert.deepEqual(await getCode(other.get(`${HOME}/chats?cursor=${nextCursor}`)), [400, 'invalid_cursor']);
    }
  });

  test('files are reached at or below the folder of the token', async (t) => {
    cites(t, 'clients-16-can-files', 'clients-16-can-upload', 'clients-16-body-forbidden');
    const by = await page({ can: ALL });
    const apiIntegrationId = 'pages';
    assert.deepEqual((await by.get(`${HOME}/files`)).body, { items: [], nextCursor: null });
    assert.deepEqual(await getCode(by.get(`${HOME}/files?folder=${MINE}/none`)), [404, 'file_not_found']);
    const path = await upload(by, 'mine', { apiIntegrationId, folder: MINE, filename: 'a.txt' });
    await upload(rig.api, 'theirs', { apiIntegrationId, folder: '/app/mnt/members/ann2', filename: 'a.txt' });
    assert.deepEqual(
      (await by.get(`${HOME}/files`)).body.items.map((file: { path: string }) => file.path),
      [path],
    );
    assert.equal((await by.get(`${HOME}/files/content?path=${path}`)).body, 'mine');
    assert.equal((await by.call('HEAD', `${HOME}/files/content?path=${path}`)).status, 200);
    for (const folder of ['/app/mnt', '/app/mnt/members', '/app/mnt/members/ann2']) {
      assert.deepEqual(await getCode(by.get(`${HOME}/files?folder=${folder}`)), FORBIDDEN);
      assert.deepEqual(await getCode(by.get(`${HOME}/files/content?path=${folder}/a.txt`)), FORBIDDEN);
      const body = signing(1, { apiIntegrationId, folder });
      assert.deepEqual(await getCode(by.post('/create_agency_upload', body)), FORBIDDEN);
      assert.deepEqual(await refused(by, { sandboxFiles: [{ name: 'a.txt', path: `${folder}/a.txt` }] }), FORBIDDEN);
    }
    const climbing = `${MINE}/../ann2/a.txt`;
    assert.deepEqual(await getCode(by.get(`${HOME}/files/content?path=${climbing}`)), [400, 'invalid_request']);
    await answered(by, { sandboxFiles: [{ name: 'a.txt', path }] });
  });

  test('pages may read answers to client tokens, and never answers to keys', async (t) => {
    cites(
      t,
      'clients-16-preflight',
      'clients-16-cors',
      'clients-16-origins',
      'clients-16-cors-keys',
      'contract-8-403-foreign-origin',
    );
    const url = `${rig.server.url}${HOME}/chats`;
    const asks = { origin: 'https://app.example.com', 'access-control-request-method': 'GET' };
    const preflight = (path: string) => fetch(rig.server.url + path, { method: 'OPTIONS', headers: asks });
    const cors = (headers: Headers) => [...headers].filter(([name]) => name.startsWith('access-control-'));
    for (const path of ['/get_completion_v2', '/create_agency_upload', `${HOME}/chats`, `${HOME}/runs/run_1/events`]) {
      const { status, headers } = await preflight(path);
      assert.deepEqual(
        [status, ...cors(headers)],
        [
          204,
          ['access-control-allow-headers', 'Authorization, Content-Type, Last-Event-ID'],
          ['access-control-allow-methods', 'GET, POST'],
          ['access-control-allow-origin', '*'],
          ['access-control-max-age', '86400'],
        ],
        path,
      );
    }
    const closed = await preflight(`${HOME}/members`);
    assert.deepEqual([closed.status, cors(closed.headers)], [405, []]);
    const exposed = 'X-Agent-Run-Admitted, X-Run-Id, X-Chat-Id, X-Run-Replayed, X-Request-Id, Retry-After';
    const allows = (origin: string) => [
      ['access-control-allow-origin', origin],
      ['access-control-expose-headers', exposed],
    ];
    const ask = async (token: string | null, origin: string, address = url) => {
      const { status, headers } = await fetch(address, { headers: { ...rig.api.as(token).authorization, origin } });
      // Long answers also differ by their compression.
      const vary = headers.get('vary')?.replace(/(, )?Accept-Encoding$/, '') || null;
      return { status, cors: cors(headers), vary };
    };
    const [app, evil] = ['https://app.example.com', 'https://evil.example.com'];
    const open = (await mint()).clientToken;
    const bound = (await mint({ origins: [app] })).clientToken;
    assert.deepEqual(await ask(open, evil), { status: 200, cors: allows('*'), vary: null });
    assert.deepEqual(await ask(open, evil, `${rig.server.url}/v2/me`), { status: 403, cors: allows('*'), vary: null });
    assert.deepEqual(await ask(bound, app), { status: 200, cors: allows(app), vary: 'Origin' });
    for (const address of [url, `${rig.server.url}/v2/me`]) {
      const refused = { status: 403, cors: allows(evil), vary: 'Origin' };
      assert.deepEqual(await ask(bound, evil, address), refused, 'the page can read the refusal');
    }
    const foreign = await rig.api.as(bound).call('GET', `${HOME}/chats`, undefined, { origin: evil });
    assert.deepEqual([foreign.body.code, Object.keys(foreign.body)], ['foreign_origin', ['error', 'code']]);
    assert.equal((await rig.api.as(bound).get(`${HOME}/chats`)).status, 200, 'without an origin');
    assert.deepEqual(await ask(null, evil), { status: 401, cors: allows('*'), vary: null });
    assert.deepEqual(await ask(null, evil, `${rig.server.url}/v2/me`), { status: 401, cors: [], vary: null });
    assert.deepEqual(await ask(rig.api.apiKey, app), { status: 200, cors: [], vary: null });
    const { headers, runId } = await answered(rig.api.as(open), { chatId: 'cors' });
    const events = await rig.api.as(open).events(runId, null, 'pages');
    for (const stream of [headers, events.headers]) {
      assert.deepEqual(
        [stream['access-control-allow-origin'], stream['access-control-expose-headers']],
        ['*', exposed],
      );
    }
    const ofKey = await rig.api.events(runId, null, 'pages');
    assert.equal(ofKey.headers['access-control-allow-origin'], undefined);
  });

  test('the samples of the guide work as pasted', { skip: noCurl }, async (t) => {
    const env = { URL: rig.server.url, KEY: TEST_API_KEY };
    const [shell = ''] = listSamples('docs/client-tokens.md', 'sh');
    rig.controller.onCall = (call) => void call.text('Hi').then(() => call.end());
    const printed = await paste(t, shell, env);
    rig.controller.onCall = null;
    assert.match(printed, /"usageRequestId":"page-1","consumerId":"user-42"[\s\S]*event: end\ndata: \[DONE\]/);
    assert.match(printed, /"items":\[\{"chatId":"page-1",/);
    const [backend = ''] = listSamples('docs/client-tokens.md', 'js');
    const PORT = String(await freePort());
    const child = spawn(process.execPath, ['--input-type=module', '-e', backend], { env: { ...env, PORT } });
    t.after(() => child.kill());
    const ask = () => fetch(`http://127.0.0.1:${PORT}/`).catch(() => null);
    let answer = await ask();
    for (; answer === null && child.exitCode === null; answer = await ask()) await sleep(20);
    assert.ok(answer !== null, 'the sample has ended');
    const { clientToken } = (await answer.json()) as { clientToken: string };
    assert.equal((await rig.api.as(clientToken).get('/v2/integrations/demo/chats/page-1')).status, 200);
  });

  const signed = (payload: object, typ = 'client+jwt', key: string | Buffer = clientTokenKey(SECRET)) =>
    forgedToken(payload, typ, key);

  test('a token is no key, a key is no token, and neither is a token of another signer', async (t) => {
    cites(t, 'clients-16-no-key');
    const claims = toPart((await mint()).clientToken, 1);
    const read = async (token: string, path = `${HOME}/chats`) => (await rig.api.as(token).get(path)).status;
    assert.equal(await read(signed(claims)), 200);
    const { keyId } = (await rig.api.post('/v2/api_keys', {})).body;
    const asKey = { sub: claims.sub, jti: keyId };
    assert.equal(await read(signed(asKey, 'JWT', SECRET), '/v2/me'), 200);
    const wrong = {
      expired: signed({ ...claims, exp: 1 }),
      "of the key's signer": signed(claims, 'client+jwt', SECRET),
      'typ of keys': signed({ ...claims, jti: keyId }, 'JWT'),
      'a key with typ of tokens': signed(asKey, 'client+jwt', SECRET),
      'of no key': signed({ ...claims, key: 'key_unknown' }),
      'of another owner': signed({ ...claims, key: keyId, sub: 'own_other' }),
      'cut off': signed(claims).slice(0, -2),
    };
    for (const [kind, token] of Object.entries(wrong)) {
      assert.deepEqual([await read(token), await read(token, '/v2/me')], [401, 401], kind);
    }
  });

  test('a token ends with its member and its key; an open stream only with its key', async (t) => {
    cites(t, 'clients-16-ends', 'clients-16-streams');
    const { keyId, apiKey } = (await rig.api.post('/v2/api_keys', {})).body;
    await rig.member('pages', 'cat');
    const by = await page({ consumerId: 'cat' }, rig.api.as(apiKey));
    const reading = send(by, {});
    const call = await rig.controller.nextCall();
    const reader = await reading;
    await rig.member('pages', 'cat', { active: false });
    assert.deepEqual(await getCode(by.get(`${HOME}/chats`)), [401, 'invalid_api_key']);
    await call.text('still here');
    await reader.untilText('still here');
    await rig.member('pages', 'cat', { active: true });
    assert.equal((await by.get(`${HOME}/chats`)).status, 200);
    assert.equal((await rig.api.delete(`${HOME}/members/cat`)).status, 204);
    assert.deepEqual(await getCode(by.get(`${HOME}/chats`)), [401, 'invalid_api_key']);
    await rig.member('pages', 'cat');
    const { status, body } = await by.get(`${HOME}/chats`);
    assert.equal(status, 401, 'the token was minted before the member was created again');
    assert.match(body.error, /deleted and created again/);
    const { memberKey: _, ...earlier } = toPart(String(by.apiKey), 1);
    assert.equal((await rig.api.as(signed(earlier)).get(`${HOME}/chats`)).status, 200, 'of an earlier version');
    assert.equal((await rig.api.delete(`/v2/api_keys/${keyId}`)).status, 204);
    assert.deepEqual(await getCode(by.get(`${HOME}/chats`)), [401, 'invalid_api_key']);
    assert.equal(await reader.over, false, 'the stream is cut');
    await call.end();
  });
});
