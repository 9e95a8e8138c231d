import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresServer } from '@runwire/test-kit';
import { CliServer, getFolder, serve } from './support/cli-process.ts';
import { CutNetwork, cannotCutNetworks } from './support/cut-network.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? cannotCutNetworks() ?? false;
/** A minute, and some seconds for a busy machine. */
const ENDED_MS = 65_000;

test('after a network cut the sessions end within a minute, on both sides', { skip }, async (t) => {
  await using network = await CutNetwork.make();
  const folder = getFolder(t);
  // PostgreSQL runs as another user and reads this file at its start.
  const hba = join(folder, 'pg_hba.conf');
  writeFileSync(hba, 'host all all all trust\n');
  chmodSync(folder, 0o755);
  chmodSync(hba, 0o644);
  const reachable = { listen_addresses: `127.0.0.1,${network.here}`, hba_file: hba };
  await using postgres = await PostgresServer.start(reachable);
  const database = await postgres.database();
  const DATABASE_URL = database.replace('127.0.0.1', network.here);
  const env = { RUNWIRE_DATA_DIR: folder, DATABASE_URL, HOST: network.there };
  const node = await CliServer.start({ env }, [...network.enter, ...serve]);
  await using _ = node;

  const sessions = async () =>
    (await postgres.query(`select pid from pg_stat_activity where client_addr = '${network.there}'`)).map(({ pid }) =>
      Number(pid),
    );
  const sockets = () =>
    network
      .inside('ss', '-tnH', 'state', 'established', 'dport', '=', `:${postgres.port}`)
      .split('\n')
      .flatMap((line) => /:(\d+)\s+\S+\s*$/.exec(line.trim())?.[1] ?? []);
  const [before, ports] = [await sessions(), sockets()];
  assert.ok(before.length >= 3, 'the writer, the heartbeat and LISTEN');
  assert.equal(ports.length, before.length);

  network.cut();
  // The session that listens now has data that no one acknowledges, so the kernel does not probe it.
  await postgres.query('notify runwire', new URL(database).pathname.slice(1));
  const cutAt = performance.now();
  const left = async () => (await sessions()).filter((pid) => before.includes(pid)).length;
  const open = () => sockets().filter((port) => ports.includes(port)).length;
  let [ofDatabase, ofNode] = [await left(), open()];
  for (; performance.now() - cutAt < ENDED_MS && ofDatabase + ofNode > 0; await sleep(1000)) {
    [ofDatabase, ofNode] = [await left(), open()];
  }
  t.diagnostic(`all sessions had ended after ${Math.round((performance.now() - cutAt) / 1000)} s`);
  assert.deepEqual([ofDatabase, ofNode], [0, 0], 'sessions of the database and sockets of the node');

  network.repair();
  let isReady = false;
  for (const until = performance.now() + 30_000; !isReady && performance.now() < until; await sleep(500)) {
    isReady = (await node.api(null).get('/readyz')).status === 200;
  }
  assert.ok(isReady, 'the node works again');
});
