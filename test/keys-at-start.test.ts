import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestServer, storeEnvironment } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { CliServer, getFolder, keysIn, run, runwire } from './support/cli-process.ts';
import { ConsolePage } from './support/console-page.ts';
import { assertWholeStream, isSignedWith, printedCurl } from './support/first-steps.ts';

const OWN_KEY = 'a-key-of-my-own-0123456789-0123456789';
const SECRET = 'a-secret-of-my-own-0123456789-0123456789';

function claims(apiKey: string): { readonly sub: string; readonly jti: string } {
  return JSON.parse(Buffer.from(apiKey.split('.')[1] ?? '', 'base64url').toString());
}

test('keys are valid only with the RUNWIRE_SECRET that signed them', async (t) => {
  cites(t, 'contract-1-secret');
  const dataDir = getFolder(t);
  let apiKey = '';
  {
    await using server = await startTestServer({ dataDir, env: { RUNWIRE_SECRET: SECRET } });
    apiKey = (await server.api.post('/v2/api_keys', {})).body.apiKey;
    assert.ok(isSignedWith(SECRET, apiKey));
    assert.equal(existsSync(join(dataDir, 'secret')), false, 'none is made beside it');
  }
  for (const [secret, status] of [
    [`another-${SECRET}`, 401],
    [SECRET, 200],
  ] as const) {
    await using server = await startTestServer({ dataDir, env: { RUNWIRE_SECRET: secret } });
    assert.equal((await server.api.as(apiKey).get('/v2/me')).status, status);
  }
});

test('RUNWIRE_API_KEY is a key of the first owner only while it is set', async (t) => {
  cites(t, 'contract-1-api-key', 'contract-1-scripted-start', 'contract-1-scripted-no-other-key');
  const dataDir = getFolder(t);
  const other = `${OWN_KEY}-2`;
  let ownerId = '';
  {
    await using server = await CliServer.start({ env: { RUNWIRE_DATA_DIR: dataDir, RUNWIRE_API_KEY: OWN_KEY } });
    assert.deepEqual(keysIn(server.stdout + server.stderr), []);
    assert.ok(!server.stdout.includes(OWN_KEY));
    const me = await server.api(OWN_KEY).get('/v2/me');
    const all = { role: 'manager', integrations: null };
    assert.deepEqual(me.body.key, { keyId: null, name: 'RUNWIRE_API_KEY', expiresAt: null, ...all });
    assert.equal(me.body.administrator, true);
    ownerId = me.body.ownerId;
    const [listed, ...others] = (await server.api(OWN_KEY).get('/v2/api_keys')).body.items;
    assert.deepEqual([listed.keyId, listed.name, others], [null, 'RUNWIRE_API_KEY', []]);
    assert.equal((await server.api(other).get('/v2/me')).status, 401);
    const pasted = await run('sh', ['-c', printedCurl(server.stdout)], { env: { RUNWIRE_API_KEY: OWN_KEY } });
    assertWholeStream(pasted.stdout);
    await server.stop();
  }
  {
    await using server = await startTestServer({ dataDir, env: { RUNWIRE_API_KEY: other } });
    assert.equal((await server.api.as(other).get('/v2/me')).body.ownerId, ownerId);
    assert.equal((await server.api.as(OWN_KEY).get('/v2/me')).status, 401);
  }
  await using server = await startTestServer({ dataDir, env: { RUNWIRE_API_KEY: '' } });
  assert.equal((await server.api.as(other).get('/v2/me')).status, 401);
  assert.equal((await server.api.as(OWN_KEY).get('/v2/me')).status, 401);
  // No key exists now, so the first key is made as at any first start.
  assert.equal((await server.api.as(server.server.apiKey).get('/v2/me')).body.ownerId, ownerId);
});

test('a command makes a new key that the running server accepts immediately', async (t) => {
  cites(t, 'contract-1-lost-key');
  const dataDir = getFolder(t);
  const env = { RUNWIRE_DATA_DIR: dataDir };
  await using server = await CliServer.start({ env });
  const first = keysIn(server.stdout)[0] ?? '';
  const command = 'npm run --silent runwire -- keys create';
  const made = await run('sh', ['-c', command], {
    env: { ...env, ...(await storeEnvironment(dataDir)), HOME: getFolder(t) },
  });
  assert.equal(made.code, 0, made.stderr);
  const [apiKey = ''] = keysIn(made.stdout);
  assert.equal(made.stdout, `${apiKey}\n`, 'the key and nothing else, so that a script can take it');
  const me = (await server.api(apiKey).get('/v2/me')).body;
  assert.deepEqual([me.ownerId, me.administrator], [claims(first).sub, true]);
  assert.equal(me.key.keyId, claims(apiKey).jti);
  const named = await runwire(['keys', 'create', '--name', 'night shift'], { env });
  assert.equal((await server.api(keysIn(named.stdout)[0] ?? '').get('/v2/me')).body.key.name, 'night shift');
  assert.equal((await server.api(first).get('/v2/api_keys')).body.items.length, 3);
});

test('the first start has a set-up link; a command replaces it', async (t) => {
  const env = { RUNWIRE_DATA_DIR: getFolder(t), PORT: '0' };
  const linkIn = (stdout: string) => /\S+\/console\/#set_up=\S+/.exec(stdout)?.[0] ?? '';
  let firstLink = '';
  {
    await using first = await startTestServer({ dataDir: env.RUNWIRE_DATA_DIR });
    firstLink = first.server.setupLink ?? '';
    assert.equal(linkIn(firstLink), firstLink);
  }
  await using server = await CliServer.start({ env });
  const made = await runwire(['owners', 'link'], { env });
  assert.equal(made.stdout, `${linkIn(made.stdout)}\n`, 'the link and nothing else');
  const page = new ConsolePage(server.url);
  assert.deepEqual(await page.setUp(firstLink, 'root@example.com'), [400, 'invalid_set_up_link']);
  assert.deepEqual(await page.setUp(linkIn(made.stdout), 'root@example.com'), [204]);

  const again = await runwire(['owners', 'link', 'ROOT@example.com', '--json'], { env });
  assert.equal((await page.post('token')).status, 200, 'a link changes nothing until it is used');
  const { setupLink } = JSON.parse(again.stdout);
  const other = new ConsolePage(server.url);
  assert.deepEqual(await other.setUp(setupLink, 'root@example.com', 'another long password'), [204]);
  assert.deepEqual(await page.result('token'), [401, 'session_ended']);
  const unknown = await runwire(['owners', 'link', 'nobody@example.com'], { env });
  assert.deepEqual([unknown.code, unknown.stdout], [1, '']);
  assert.match(unknown.stderr, /^No person has the e-mail nobody@example\.com; check it, /);

  const stopped = await server.stop();
  assert.match(stopped.stdout, /The console is not set up yet/);
  {
    await using later = await startTestServer({ dataDir: env.RUNWIRE_DATA_DIR });
    assert.deepEqual([later.server.setupLink, later.server.awaitsSetUp], [null, false]);
  }
  await askStore(env.RUNWIRE_DATA_DIR, "delete from kysely_migration where name >= '0018'");
  const earlier = await runwire(['owners', 'link'], { env });
  assert.deepEqual([earlier.code, earlier.stdout], [1, '']);
  assert.match(earlier.stderr, /^The installation has the tables of an earlier version; start /);
});
