import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingService } from '../../../../test/support/services.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import type { Store } from '../store/store.ts';
import { ThisNode } from '../store/this-node.ts';
import { createLogger } from '../telemetry/logger.ts';
import { freshDatabase, postgresStore } from '../testing/test-store.ts';
import { DisconnectWatch } from './disconnect-watch.ts';
import { FarReaders } from './far-readers.ts';

const skip = (await missingService('postgres')) ?? false;
const PATIENCE_MS = 3_600_000;
const TICK_MS = PATIENCE_MS / 20;

test('an outage is told once, and the next one again', { skip }, async (t) => {
  await using database = await freshDatabase();
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
  await using far = new FarReaders(store, new ThisNode(), () => true, logger);
  t.mock.timers.enable({ apis: ['setInterval'] });
  using watch = new DisconnectWatch(PATIENCE_MS, async () => assert.fail('nobody waited that long'), logger, far);
  watch.watch('run_1', 'i');
  for (const outage of [1, 2]) {
    away = true;
    for (let tick = 0; tick < 5; tick += 1) {
      t.mock.timers.tick(TICK_MS);
      await new Promise(setImmediate);
    }
    assert.equal(warnings, outage);
    away = false;
    t.mock.timers.tick(TICK_MS);
    while (looks < outage) await new Promise(setImmediate);
    await new Promise(setImmediate);
  }
});
