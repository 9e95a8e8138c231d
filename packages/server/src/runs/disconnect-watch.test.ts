import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { askDatabase } from '@runwire/test-kit/postgres-server.ts';
import { testRunId } from '@runwire/test-kit/test-ids.ts';
import { migratedDatabase, postgresStore } from '@runwire/test-kit/test-store.ts';
import { cites } from '../../../../requirements/cite.ts';
import { missingService } from '../../../../test/support/services.ts';
import { newIntegrationId } from '../domain/ids.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import { GENERATION } from '../store/generation.ts';
import type { Store } from '../store/store.ts';
import { ThisNode } from '../store/this-node.ts';
import { createLogger } from '../telemetry/logger.ts';
import { DisconnectWatch } from './disconnect-watch.ts';
import { RemoteReaders } from './remote-readers.ts';

const skip = (await missingService('postgres')) ?? false;
const PATIENCE_MS = 3_600_000;
const TICK_MS = PATIENCE_MS / 20;

test('logs each outage once, and has patience after it', { skip }, async (t) => {
  await using database = await migratedDatabase();
  await using real = await postgresStore(database.url);
  let away = false;
  let looks = 0;
  const store: Store = {
    kind: real.kind,
    transact: real.transact.bind(real),
    reads: {
      all: async (statement, params) => {
        if (away) throw new StoreUnavailable('away');
        return real.reads.all(statement, params).finally(() => {
          looks += 1;
        });
      },
      query: (build) => real.reads.query(build),
    },
    [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
  };
  const logger = createLogger('silent');
  let warnings = 0;
  logger.warn = () => {
    warnings += 1;
  };
  await using remote = new RemoteReaders(store, new ThisNode(), () => true, logger);
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  let cancels = 0;
  const cancel = async () => {
    cancels += 1;
  };
  using watch = new DisconnectWatch(PATIENCE_MS, cancel, logger, remote);
  watch.watch(testRunId('run_1'), newIntegrationId('i'));
  for (const outage of [1, 2]) {
    away = true;
    for (let tick = 0; tick < 5; tick += 1) {
      // No reader can attach during an outage, so it may be long.
      now += PATIENCE_MS;
      t.mock.timers.tick(TICK_MS);
      await new Promise(setImmediate);
    }
    assert.equal(warnings, outage);
    away = false;
    t.mock.timers.tick(TICK_MS);
    while (looks < outage) await new Promise(setImmediate);
    await new Promise(setImmediate);
    assert.equal(cancels, 0);
  }
});

test('waits its patience after the last reader on another node left', {
  skip,
}, async (t) => {
  cites(t, 'contract-4-disconnect-any-node');
  await using database = await migratedDatabase();
  let looks = 0;
  await using real = await postgresStore(database.url);
  const store: Store = {
    kind: real.kind,
    transact: real.transact.bind(real),
    reads: {
      all: (statement, params) =>
        real.reads.all(statement, params).finally(() => {
          if (statement.name === 'runs read elsewhere') looks += 1;
        }),
      query: (build) => real.reads.query(build),
    },
    [Symbol.asyncDispose]: () => real[Symbol.asyncDispose](),
  };
  await askDatabase(
    database.url,
    `insert into nodes (node_id, boot, dead, version, started_at, generation) values ('other', 'b', 0, '0', 0, ${GENERATION});
     insert into run_readers (run_id, node_id) values ('run_1', 'other')`,
  );
  const logger = createLogger('silent');
  await using remote = new RemoteReaders(store, new ThisNode(), () => true, logger);
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  let cancelledAt: number | null = null;
  const cancel = async () => {
    cancelledAt = now;
  };
  using watch = new DisconnectWatch(PATIENCE_MS, cancel, logger, remote);
  watch.watch(testRunId('run_1'), newIntegrationId('i'));
  const look = async () => {
    const before = looks;
    now += TICK_MS;
    // If the previous look is not finished, a tick does nothing.
    for (; looks === before; await sleep(1)) t.mock.timers.tick(TICK_MS);
    await sleep(5);
  };
  for (let tick = 1; tick <= 25; tick += 1) await look();
  assert.equal(cancelledAt, null, 'a reader on another node counts');
  // The reader leaves just before the next look.
  const leftAt = now + 0.9 * TICK_MS;
  await askDatabase(database.url, 'delete from run_readers');
  for (let tick = 1; tick <= 30 && cancelledAt === null; tick += 1) await look();
  assert.ok(cancelledAt !== null, 'it is cancelled');
  assert.ok(cancelledAt >= leftAt + PATIENCE_MS, `after ${(cancelledAt - leftAt) / PATIENCE_MS} of its patience`);
  assert.ok(cancelledAt <= leftAt + 1.2 * PATIENCE_MS, 'and soon after it');
});
