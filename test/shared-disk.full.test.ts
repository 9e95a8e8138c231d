import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  askDatabase,
  filesOf,
  freshDatabase,
  openTestMount,
  putFile,
  ServerProcess,
  startTestServer,
} from '@runwire/test-kit';
import { until } from '@runwire/test-kit/shortfall.ts';
import { folderOf, root, runwire } from './support/cli-process.ts';
import { Cluster } from './support/cluster.ts';
import { reading } from './support/left-behind.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? false;
const limits = { leaseMs: 3000, beatMs: 500 };
const REFUSED =
  /^Another node of this installation is running \(node_\w+\), and files are kept on a disk; set RUNWIRE_SHARED_DISK=true [^\n.]+\.$/;

/** The settings of the command in docs/nodes.md that starts several nodes. */
function documentedSettings(): Record<string, string> {
  const page = readFileSync(join(root, 'docs/nodes.md'), 'utf8');
  const [, command = ''] = /^```sh\n(.*?npm start)$/ms.exec(page) ?? [];
  return Object.fromEntries(
    [...command.matchAll(/\b([A-Z0-9_]+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
  );
}

/** Nobody said that the disk is shared. */
const alone = (url: string) => ({ DATABASE_URL: url, RUNWIRE_SHARED_DISK: '' });

test('a second node with files on a disk starts only as docs/nodes.md shows', {
  skip,
}, async (t) => {
  await using database = await freshDatabase();
  const dataDir = folderOf(t);
  {
    await using first = await startTestServer({ env: alone(database.url), dataDir, limits });
    const refused = await runwire(['serve'], {
      env: { ...alone(database.url), RUNWIRE_DATA_DIR: dataDir, PORT: '0', RUNWIRE_LOG_LEVEL: 'silent' },
    });
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(refused.stderr.trimEnd(), REFUSED);
    assert.equal((await first.api.get('/v2/nodes')).body.items.length, 1, 'it was never listed');
    const env = {
      RUNWIRE_SHARED_DISK: '',
      ...documentedSettings(),
      DATABASE_URL: database.url,
      RUNWIRE_DATA_DIR: dataDir,
    };
    await using second = await startTestServer({ env, dataDir, limits });
    assert.equal((await second.api.get('/v2/nodes')).body.items.length, 2);
  }
  await using again = await startTestServer({ env: alone(database.url), dataDir, limits });
  assert.equal((await again.api.get('/readyz')).status, 200, 'those that stopped in good order hold up nobody');
});

test('of nodes that start at the same moment without a shared disk exactly one comes up', { skip }, async (t) => {
  await using database = await freshDatabase();
  const dataDir = folderOf(t);
  await (await startTestServer({ env: alone(database.url), dataDir, limits }))[Symbol.asyncDispose]();
  let looking = 0;
  const all = Promise.withResolvers<void>();
  const starts = await Promise.allSettled(
    [1, 2, 3].map(() => {
      let hasLooked = false;
      // Each has seen that nobody is there before one of them goes on.
      const wrapStore = reading(async (statement, _, rows) => {
        if (statement !== 'live nodes' || hasLooked) return rows;
        hasLooked = true;
        assert.deepEqual(rows, []);
        looking += 1;
        if (looking === 3) all.resolve();
        await all.promise;
        return rows;
      });
      return startTestServer({ env: alone(database.url), dataDir, limits, wrapStore });
    }),
  );
  const up = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  for (const server of up) await server[Symbol.asyncDispose]();
  assert.equal(up.length, 1);
  for (const start of starts) {
    if (start.status === 'rejected') assert.match(start.reason.message, REFUSED);
  }
});

test('a node that starts after a crash waits until the dead one is silent for a lease, and comes up', {
  skip,
}, async (t) => {
  await using database = await freshDatabase();
  const options = { dataDir: folderOf(t), env: alone(database.url), limits };
  {
    await using first = await ServerProcess.start(options);
    await first.kill();
  }
  await using second = await ServerProcess.start(options);
  const { items } = (await second.api.get('/v2/nodes')).body;
  assert.deepEqual(items.map(({ state }: { state: string }) => state).sort(), ['alive', 'dead']);
});

test('a node that stood still while another took its place stays out until that one is gone', { skip }, async (t) => {
  await using database = await freshDatabase();
  const options = { dataDir: folderOf(t), env: alone(database.url), limits };
  await using first = await ServerProcess.start(options);
  first.freeze();
  await until('it stands still', () => first.isStill);
  await using second = await ServerProcess.start(options);
  first.unfreeze();
  const isReady = async () => (await first.api.get('/readyz')).status === 200;
  await until('it knows that it is out', async () => !(await isReady()));
  const beats = async () =>
    Number((await askDatabase(database.url, 'select max(beat) as beat from node_beats'))[0]?.beat);
  const before = await beats();
  // Time enough for several tries to come in again.
  await until('the other has gone on', async () => (await beats()) >= before + 10);
  assert.equal(await isReady(), false);
  const alive = 'select count(*) as count from nodes where dead = 0';
  assert.deepEqual(
    (await askDatabase(database.url, alive)).map(({ count }) => Number(count)),
    [1],
  );
  await second.kill('SIGTERM');
  await until('it is in again', isReady);
});

test('nodes on one disk sweep the files of a deleted integration beside each other', { skip }, async () => {
  await using cluster = await Cluster.start(2, { limits: { sweepMs: 3_600_000, unusedBlobMs: 0 } });
  const mount = await openTestMount(cluster.node(0).server.dataDir);
  const { api } = cluster.node(0);
  assert.equal((await api.post('/v2/integrations', { apiIntegrationId: 'gone', name: 'Gone' })).status, 201);
  for (let n = 0; n < 30; n += 1) await putFile(mount, 'gone', `folder-${n % 3}/within-${n % 5}/deeper/${n}`, 'x');
  assert.equal((await api.delete('/v2/integrations/gone')).status, 204);
  await Promise.all(cluster.nodes.map(({ server }) => server.server.probes.sweepMounts()));
  assert.equal((await filesOf(mount, 'gone')).size, 0);
  const [row] = await cluster.query(`select files_deleted_at from integrations where integration_id = 'gone'`);
  assert.ok(Number(row?.files_deleted_at) > 0);
});
