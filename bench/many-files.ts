import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { dataFolder } from '@runwire/server/src/config/data-folder.ts';
import {
  ApiClient,
  ModelController,
  scriptedModel,
  startTestServer,
  TEST_API_KEY,
  temporaryFolder,
} from '@runwire/server/testing';
import { askDatabase, PostgresServer } from '@runwire/test-kit/postgres-server.ts';

/*
 * Many files in one folder of one integration: how long each operation takes, and how long other requests wait
 * concurrently. The rows are written into the database directly, in random order; their blobs do not exist.
 */

const FOLDER = '/app/mnt/many';
const QUOTA = 10 ** 12;
/** Open upload forms of the integration. */
const FORMS = 10_000;

interface ServerAddress {
  readonly url: string;
}

async function serve(): Promise<void> {
  const { env, port } = JSON.parse(process.argv[3] ?? '{}') as { env: Record<string, string>; port: number };
  const { RUNWIRE_DATA_DIR: dataDir = '' } = env;
  const server = await startTestServer({ dataDir, env, model: scriptedModel(port) });
  process.on('disconnect', () => process.exit());
  process.send?.({ url: server.url } satisfies ServerAddress);
}

async function start(env: Record<string, string>, port: number) {
  const child = fork(import.meta.filename, ['serve', JSON.stringify({ env, port })], {
    execArgv: ['-C', 'runwire'],
    stdio: 'inherit',
  });
  const gone = once(child, 'exit');
  const started = await Promise.race([once(child, 'message') as Promise<[ServerAddress]>, gone.then(() => null)]);
  if (started === null) throw new Error('The server did not start.');
  const [{ url }] = started;
  return {
    api: new ApiClient(url, TEST_API_KEY),
    async stop() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** Asks all the time, and resolves to the longest wait. */
async function longestWait(api: ApiClient, work: () => Promise<unknown>) {
  let isOver = false;
  let waited = 0;
  const asking = (async () => {
    while (!isOver) {
      const began = performance.now();
      await api.get('/v2/integrations/demo');
      waited = Math.max(waited, performance.now() - began);
      await sleep(1);
    }
  })();
  await sleep(50);
  waited = 0;
  const began = performance.now();
  await work();
  const ms = performance.now() - began;
  isOver = true;
  await asking;
  return { ms, waited };
}

async function measure(): Promise<void> {
  const { values } = parseArgs({ options: { files: { type: 'string', default: '100000' } } });
  const count = Number(values.files);
  for (const store of ['sqlite', 'postgres'] as const) {
    await using postgres = store === 'postgres' ? await PostgresServer.start() : null;
    await using model = await ModelController.start();
    const dataDir = temporaryFolder();
    const databaseUrl = await postgres?.database();
    const env = {
      RUNWIRE_DATA_DIR: dataDir,
      RUNWIRE_MOUNT_QUOTA_BYTES: String(QUOTA),
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    };
    await (await start(env, model.port)).stop();
    if (databaseUrl === undefined) fillSqlite(dataFolder(dataDir).database, count);
    else await fillPostgres(databaseUrl, count);
    if (databaseUrl !== undefined) await askDatabase(databaseUrl, 'update nodes set dead = 1');
    const server = await start(env, model.port);
    try {
      await operations(store, server.api, model, count);
    } finally {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  }
  process.exit();
}

const getName = (n: number) => `file-${String(n).padStart(6, '0')}.txt`;

function fillSqlite(path: string, count: number): void {
  using database = new DatabaseSync(path);
  database.exec(`
    begin;
    with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ${count})
    insert into files (integration_id, path, blob_key, size_bytes, etag, content_type, modified_at)
    select 'demo', char(1) || 'many' || char(1) || 'file-' || printf('%06d', i) || '.txt', lower(hex(randomblob(24))), 1000,
      '"00000000000000000000000000000000"', 'text/plain', 1 from n order by random();
    update integrations set file_bytes = ${count * 1000} where integration_id = 'demo';
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${FORMS})
    insert into upload_forms (integration_id, path, form_id, size_bytes, signed_at, expires_at)
    select 'demo', char(1) || 'forms' || char(1) || i, 'form', 1000, ${Date.now()}, ${Date.now()} from n;
    commit`);
}

async function fillPostgres(url: string, count: number): Promise<void> {
  await askDatabase(
    url,
    `insert into files (integration_id, path, blob_key, size_bytes, etag, content_type, modified_at)
     select 'demo', chr(1) || 'many' || chr(1) || 'file-' || lpad(i::text, 6, '0') || '.txt',
       md5(random()::text) || substr(md5(random()::text), 1, 16), 1000, '"00000000000000000000000000000000"', 'text/plain', 1
     from generate_series(0, ${count - 1}) i order by random()`,
  );
  // Autovacuum does this within a minute.
  await askDatabase(url, 'analyze files');
  await askDatabase(
    url,
    `insert into upload_forms (integration_id, path, form_id, size_bytes, signed_at, expires_at)
     select 'demo', chr(1) || 'forms' || chr(1) || i, 'form', 1000, ${Date.now()}, ${Date.now()}
     from generate_series(1, ${FORMS}) i`,
  );
  await askDatabase(url, `update integrations set file_bytes = ${count * 1000} where integration_id = 'demo'`);
}

async function operations(store: string, api: ApiClient, model: ModelController, count: number): Promise<void> {
  const files = (query: Record<string, string>) => `/v2/integrations/demo/files?${new URLSearchParams(query)}`;
  // The first characters of a cursor name its list.
  const { nextCursor } = (await api.get(files({ folder: FOLDER, limit: '1' }))).body;
  const cursor = (n: number) => `${nextCursor.slice(0, 8)}${Buffer.from(getName(n)).toString('base64url')}`;
  const last = `${FOLDER}/${getName(count - 1)}`;
  const head = (path: string) =>
    api.call('HEAD', `/v2/integrations/demo/files/content?${new URLSearchParams({ path })}`);
  let number = 0;
  const sign = () => {
    number += 1;
    const terms = { folder: FOLDER, filename: `new-${number}.txt`, contentType: 'text/plain', sizeBytes: 10 };
    return api.post('/create_agency_upload', { apiIntegrationId: 'demo', ...terms });
  };
  const sandboxFiles = [0, count - 1].map((n) => ({ name: getName(n), path: `${FOLDER}/${getName(n)}` }));
  const listAsAgent = async (shown: object[]) => {
    const reader = await api.complete({
      chatId: `chat-${number++}`,
      ...(shown.length > 0 ? { sandboxFiles: shown } : {}),
    });
    const call = await model.nextCall();
    await call.toolCall('call-1', 'list_files', JSON.stringify({ folder: FOLDER }));
    const began = performance.now();
    await call.end();
    const next = await model.nextCall();
    const ms = performance.now() - began;
    const output = next.request.prompt.findLast(({ kind }) => kind === 'tool_output');
    await next.text('ok');
    await next.end();
    await reader.whole();
    return { ms, lines: JSON.stringify(output).split('(1000 bytes').length - 1 };
  };
  const check = async (answer: Promise<{ status: number }>) => {
    const { status } = await answer;
    if (status >= 400) throw new Error(`status ${status}`);
  };
  const todo: [string, () => Promise<unknown>, number][] = [
    ['list, first page', () => check(api.get(files({ folder: FOLDER, limit: '200' }))), 20],
    ['list, last page', () => check(api.get(files({ folder: FOLDER, limit: '200', cursor: cursor(count - 101) }))), 20],
    ['list of the parent', () => check(api.get(files({}))), 20],
    ['find one', () => check(head(last)), 20],
    [`sign with a quota, ${FORMS} open forms`, () => check(sign()), 20],
    [
      'list as agent, 2 of them seen',
      () =>
        listAsAgent(sandboxFiles).then(({ lines }) => {
          if (lines !== 2) throw new Error(`lines ${lines}`);
        }),
      5,
    ],
    ['list as agent, none seen', () => listAsAgent([]), 5],
    ['delete one', () => check(api.delete(files({ path: `${FOLDER}/${getName(number++)}` }))), 20],
    ['recursive delete', () => check(api.delete(files({ path: FOLDER, recursive: 'true' }))), 1],
  ];
  for (const [what, work, times] of todo) {
    const all: { ms: number; waited: number }[] = [];
    // The first calls load and compile code.
    if (times > 1) for (let time = 0; time < 5; time += 1) await work();
    for (let time = 0; time < times; time += 1) all.push(await longestWait(api, work));
    const median = all.map(({ ms }) => ms).toSorted((a, b) => a - b)[times >> 1] ?? 0;
    const waited = Math.max(...all.map((one) => one.waited));
    process.stdout.write(
      `${store}\t${count} files\t${what}\t${median.toFixed(1)} ms\tothers waited ${waited.toFixed(1)} ms\n`,
    );
  }
}

if (process.argv[2] === 'serve') await serve();
else await measure();
