import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { askDatabase, CommitProxy, freshDatabase, LIVENESS, PostgresServer, startTestServer } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { CliServer, getFolder, keysIn, runwire } from './support/cli-process.ts';
import { PgBouncer } from './support/pgbouncer.ts';
import { messagesFrame, refusal, ScriptedServer } from './support/scripted-server.ts';
import { missingService } from './support/services.ts';

const missing = await missingService('postgres');
const skip = missing ?? false;

test('two concurrent starts on an empty database share owner, key and secret', { skip }, async (t) => {
  cites(t, 'contract-1-database-url', 'contract-1-secret-database', 'contract-1-lost-key');
  await using database = await freshDatabase();
  const url = new URL(database.url);
  url.password = 'hunter22';
  const dataDir = getFolder(t);
  const env = () => ({ RUNWIRE_DATA_DIR: dataDir, DATABASE_URL: url.href, RUNWIRE_LOG_LEVEL: 'debug' });
  const none = await runwire(['keys', 'create'], { env: env() });
  assert.equal(none.code, 1);
  assert.match(none.stderr, /^There is no installation in the database [^\n]+\.\n$/);
  const servers = await Promise.all([CliServer.start({ env: env() }), CliServer.start({ env: env() })]);
  const keys = servers.flatMap(({ stdout }) => keysIn(stdout));
  assert.equal(keys.length, 1, 'one key is printed, by one of them');
  const made = await runwire(['keys', 'create'], { env: env() });
  assert.equal(made.code, 0, made.stderr);
  await askDatabase(database.url, 'alter table commit_marks rename to later');
  const earlier = await runwire(['keys', 'create'], { env: env() });
  assert.equal(earlier.code, 1);
  assert.match(earlier.stderr, /^The database \S+ has the tables of an earlier version; [^\n]+\.\n$/);
  await askDatabase(database.url, 'alter table later rename to commit_marks');
  for (const server of servers) {
    for (const key of [...keys, made.stdout.trim()]) {
      const api = server.api(key);
      assert.equal((await api.get('/v2/me')).status, 200);
      const reader = await api.complete({});
      await reader.whole();
      assert.equal(messagesFrame(reader).status, 'completed');
    }
    const { status, store } = (await server.api(null).get('/readyz')).body;
    assert.deepEqual([status, store], ['ok', 'postgres']);
    assert.match(server.stdout, /Database: PostgreSQL at 127\.0\.0\.1:\d+\/test_/);
  }
  const ends = await Promise.all(servers.map((server) => server.stop()));
  for (const { code, stdout, stderr } of [...ends, { ...none, code: 0 }]) {
    assert.equal(code, 0);
    assert.ok(!`${stdout}${stderr}`.includes('hunter22'), 'the password is nowhere said');
  }
});

const SENTENCE =
  /^The (database of DATABASE_URL cannot be used \(.+\); fix that, or DATABASE_URL|start failed because the store cannot be used now \(The database is not available: .+\); start again when it is available)\.$/;

test('a start that loses the database ends with one sentence', { skip }, async (t) => {
  await using database = await freshDatabase();
  const { port } = new URL(database.url);
  await using proxy = await CommitProxy.start(Number(port));
  const env = { RUNWIRE_DATA_DIR: getFolder(t), DATABASE_URL: database.url.replace(`:${port}`, `:${proxy.port}`) };
  // In the order of a start: each attempt gets further than the previous one.
  const phases = [
    'server_version_num',
    'create table "messages"',
    'insert installation_secret',
    'insert owners',
    'insert node_beats',
    'insert api_keys',
  ];
  for (const phase of phases) {
    proxy.unblock();
    proxy.blockAt(phase);
    const { code, stderr } = await runwire(['serve'], { env: { ...env, PORT: '0' } });
    assert.equal(code, 1, phase);
    const sentences = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    assert.equal(sentences.length, 1, `${phase}: ${stderr}`);
    assert.match(sentences[0] ?? '', SENTENCE, phase);
    // Log lines contain no stack either.
    assert.doesNotMatch(stderr, /\bat .+:\d+:\d+/, phase);
  }
});

test('a server that starts leaves the runs of another one alone', { skip }, async () => {
  await using database = await freshDatabase();
  const env = { DATABASE_URL: database.url };
  await using first = await ScriptedServer.start({ env });
  const { reader, call, runId } = await first.hold({});
  await using second = await startTestServer({ env });
  assert.deepEqual([second.server.resumedRuns, second.server.endedRuns], [0, 0]);
  await call.text('Still here');
  await call.end();
  await reader.whole();
  assert.equal(messagesFrame(reader).status, 'completed');
  const { body } = await second.api.get(`/v2/integrations/demo/runs/${runId}`);
  assert.deepEqual([body.status, body.attempt], ['completed', 1]);
});

if (missing === null) {
  let postgres: PostgresServer;
  before(async () => {
    postgres = await PostgresServer.start();
  });
  after(() => postgres[Symbol.asyncDispose]());

  const behindProxy = async () => {
    const proxy = await CommitProxy.start(postgres.port);
    const url = (await postgres.database()).replace(`:${postgres.port}/`, `:${proxy.port}/`);
    return { proxy, rig: await ScriptedServer.start({ env: { DATABASE_URL: url } }) };
  };

  const noBouncer = await missingService('pgbouncer');
  test('works with PgBouncer in transaction mode as documented, or explains why not', {
    skip: noBouncer ?? false,
  }, async () => {
    await using bouncer = await PgBouncer.start(postgres.port);
    const url = (await postgres.database()).replace(`:${postgres.port}/`, `:${bouncer.port}/`);
    await assert.rejects(startTestServer({ env: { DATABASE_URL: url } }), /cannot be used .*\?pgbouncer=true/);
    const unchecked = `${await postgres.database()}?options=-c%20client_connection_check_interval%3D-1`;
    await assert.rejects(startTestServer({ env: { DATABASE_URL: unchecked } }), /; if it cannot check connections, /);
    await using server = await startTestServer({ env: { DATABASE_URL: `${url}?pgbouncer=true` } });
    const answers = Array.from({ length: 20 }, async (_, index) => {
      const reader = await server.api.complete({ usageRequestId: `u${index}` });
      await reader.whole();
      return messagesFrame(reader).status;
    });
    assert.deepEqual(new Set(await Promise.all(answers)), new Set(['completed']));
  });

  test('an admission with an unanswered commit is looked up: 200, one run', async (t) => {
    cites(t, 'contract-4-header-unknown');
    const { proxy, rig } = await behindProxy();
    await using _ = proxy;
    await using server = rig;
    proxy.swallow(1, 'insert runs', false);
    const { reader, call, runId } = await server.hold({ usageRequestId: 'u1' });
    assert.equal(proxy.swallowed, 1);
    assert.equal(reader.headers['x-agent-run-admitted'], 'true');
    await call.end();
    await reader.whole();
    const replay = await server.api.complete({ usageRequestId: 'u1' });
    assert.deepEqual([replay.headers['x-run-id'], replay.headers['x-run-replayed']], [runId, 'true']);
    await replay.whole();
    // Those of the migrations, the pool, the writer, `LISTEN`, the heartbeat and the look-up of the commit.
    assert.ok(proxy.startups.length >= 6);
    for (const startup of proxy.startups) {
      for (const [name, value] of Object.entries(LIVENESS)) assert.ok(startup.includes(`-c ${name}=${value}`), startup);
    }
  });

  test('an admission with an unknown outcome is 503 without the header', async (t) => {
    cites(t, 'contract-4-header-unknown', 'contract-8-503-unavailable');
    const { proxy, rig } = await behindProxy();
    await using _ = proxy;
    await using server = rig;
    proxy.swallow(1, 'insert runs', true);
    const { status, admitted, body } = await refusal(await server.api.complete({ usageRequestId: 'u1' }));
    assert.deepEqual([status, admitted, body.code], [503, undefined, 'unavailable']);
    const again = await refusal(await server.api.complete({ usageRequestId: 'u2' }));
    assert.deepEqual([again.status, again.admitted], [503, 'false'], 'where nothing was sent, that is known');
    proxy.unblock();
    const call = await server.controller.nextCall();
    await call.text('After all');
    await call.end();
    const replay = await server.api.complete({ usageRequestId: 'u1' });
    assert.equal(replay.headers['x-run-replayed'], 'true');
    await replay.whole();
    assert.equal(messagesFrame(replay).status, 'completed');
  });

  test('an end with an unanswered commit is not written twice', async () => {
    const { proxy, rig } = await behindProxy();
    await using _ = proxy;
    await using server = rig;
    const integration = await server.metered({ unit: 'runs', limit: 10, period: 'lifetime' });
    const who = { apiIntegrationId: integration, consumerId: 'ann', chatId: 'c' };
    for (const blockAfter of [false, true]) {
      const { reader, call } = await server.hold({ ...who, usageRequestId: `u${blockAfter}` });
      await call.text('Once');
      proxy.swallow(1, 'finish run', blockAfter);
      await call.end();
      // Longer than the server looks for an unanswered commit. After that it writes the end again.
      if (blockAfter) await sleep(7000);
      proxy.unblock();
      await reader.whole();
      assert.equal(messagesFrame(reader).status, 'completed');
    }
    assert.equal(proxy.swallowed, 2);
    const { body } = await server.api.get(`/v2/integrations/${integration}/chats/c/messages`);
    assert.equal(body.items.length, 4);
    const { used, reserved } = await server.allowance(integration);
    assert.deepEqual([used, reserved], [2, 0]);
  });
}
