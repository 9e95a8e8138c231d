import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freshDatabase, ServerProcess, startTestServer } from '@runwire/test-kit';
import pino from 'pino';
import { getFolder, root } from './support/cli-process.ts';
import { Cluster } from './support/cluster.ts';
import { missingService } from './support/services.ts';
import { download, upload } from './support/uploads.ts';

const skip = (await missingService('postgres')) ?? false;
const limits = { leaseMs: 3000, beatMs: 500 };
const REFUSED =
  /^The folder \S+\/blobs is not the one in which this installation keeps its files \(its mark, [^\n]+ is missing\); set RUNWIRE_DATA_DIR to the right folder, [^\n]+\.$/;

/** The command's settings in docs/nodes.md that starts several nodes. */
function documentedSettings(): Record<string, string> {
  const page = readFileSync(join(root, 'docs/nodes.md'), 'utf8');
  const [, command = ''] = /^```sh\n(.*?npm start)$/ms.exec(page) ?? [];
  return Object.fromEntries(
    [...command.matchAll(/\b([A-Z0-9_]+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
  );
}

test('a second node starts on the same folder and is refused on another', { skip }, async (t) => {
  await using database = await freshDatabase();
  const dataDir = getFolder(t);
  const env = { ...documentedSettings(), DATABASE_URL: database.url, RUNWIRE_DATA_DIR: dataDir };
  await using first = await startTestServer({ env, dataDir, limits });
  const other = getFolder(t);
  const start = async () => {
    await using _ = await startTestServer({ env: { ...env, RUNWIRE_DATA_DIR: other }, dataDir: other, limits });
  };
  await assert.rejects(start, { name: 'StartRefused', message: REFUSED });
  assert.equal((await first.api.get('/v2/nodes')).body.items.length, 1, 'the refused node was never listed');
  assert.ok(!readdirSync(join(other, 'blobs')).includes('installation'), 'and its folder got no mark');
  await using second = await startTestServer({ env, dataDir, limits });
  assert.equal((await second.api.get('/v2/nodes')).body.items.length, 2);
});

test('a node that starts after a crash does not wait for the lease of the dead node', { skip }, async (t) => {
  await using database = await freshDatabase();
  const options = { dataDir: getFolder(t), env: { DATABASE_URL: database.url }, limits };
  {
    await using first = await ServerProcess.start(options);
    await first.kill();
  }
  await using second = await ServerProcess.start(options);
  assert.equal((await second.api.get('/readyz')).status, 200);
});

test('a node on a copy of the folder answers 503 for files that it does not have', { skip }, async (t) => {
  await using database = await freshDatabase();
  const [dataDir, copy] = [getFolder(t), getFolder(t)];
  const env = { DATABASE_URL: database.url };
  await using first = await startTestServer({ env, dataDir, limits });
  await upload(first.api, 'before', { filename: 'before.txt' });
  cpSync(join(dataDir, 'blobs'), join(copy, 'blobs'), { recursive: true });
  await upload(first.api, 'after', { filename: 'after.txt' });
  const lines: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  await using second = await startTestServer({ env, dataDir: copy, limits, logger });
  const read = async ({ api }: typeof first, name: string) => {
    const answer = await download(api, `/app/mnt/u/${name}`);
    return [answer.status, answer.status === 200 ? await answer.text() : ''];
  };
  assert.deepEqual(await read(second, 'before.txt'), [200, 'before']);
  assert.deepEqual(await read(second, 'after.txt'), [503, '']);
  assert.match(lines.join(''), /the bytes of a file are missing/);
  await second.server.probes.sweepBlobs();
  assert.deepEqual(await read(first, 'after.txt'), [200, 'after'], 'nothing is lost');
});

test('nodes on one folder sweep the files of a deleted integration concurrently', { skip }, async () => {
  await using cluster = await Cluster.start(2, { limits: { sweepMs: 3_600_000, unusedBlobMs: 0 } });
  const { api } = cluster.node(0);
  assert.equal((await api.post('/v2/integrations', { apiIntegrationId: 'gone', name: 'Gone' })).status, 201);
  for (let n = 0; n < 30; n += 1) {
    const folder = `/app/mnt/folder-${n % 3}/within-${n % 5}`;
    await upload(api, 'x', { apiIntegrationId: 'gone', folder, filename: String(n) });
  }
  assert.equal((await api.delete('/v2/integrations/gone')).status, 204);
  await Promise.all(cluster.nodes.map(({ server }) => server.server.probes.sweepFiles()));
  assert.deepEqual(
    await cluster.query(`select path from files where integration_id = 'gone' and freed_at is null`),
    [],
  );
  const [row] = await cluster.query(`select files_deleted_at from integrations where integration_id = 'gone'`);
  assert.ok(Number(row?.files_deleted_at) > 0);
});
