import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '@runwire/server/testing';
import { testOwnerId, testRunId } from '@runwire/test-kit/test-ids.ts';
import { embeddedStore } from '@runwire/test-kit/test-store.ts';
import type { RunEvent } from '../domain/run/events.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import { insertChunk } from '../store/queries/eventlog.ts';
import type { Store } from '../store/store.ts';
import { createLogger } from '../telemetry/logger.ts';
import { encodeChunk } from './chunk-codec.ts';
import { EventLog } from './event-log.ts';
import { Follower, type Sink } from './follow.ts';

/** Nothing else is read here, so no page waits. */
const turns = { take: (): Disposable => ({ [Symbol.dispose]() {} }) };
const OPTIONS = {
  flushMs: 600_000,
  chunkBytes: 1000,
  heldBytes: 1000,
  unstoredRunBytes: 1_000_000,
  unstoredBytes: 1_000_000,
};

class Outcome implements Sink {
  readonly full = false;
  readonly #over = Promise.withResolvers<string>();
  readonly over = this.#over.promise;

  take(events: readonly RunEvent[]): number {
    return events.at(-1)?.id ?? 0;
  }

  finish(): void {
    this.#over.resolve('finished');
  }

  cut(): void {
    this.#over.resolve('cut');
  }
}

/** An ended run's log on a real store. Every read waits for `gate`. */
async function withEnded(gate: () => void, body: (log: EventLog) => Promise<void>): Promise<void> {
  const folder = temporaryFolder();
  await using store = await embeddedStore(folder);
  const data = encodeChunk([{ type: 'end', id: 1 }]);
  await store.transact('flush', (tx) => tx.run(insertChunk, { run_id: testRunId('r'), first_id: 1, last_id: 1, data }));
  const gated: Store = {
    kind: store.kind,
    transact: store.transact.bind(store),
    reads: {
      all: async (statement, params) => {
        gate();
        return store.reads.all(statement, params);
      },
      query: (build) => store.reads.query(build),
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
  await using log = new EventLog(gated, OPTIONS, createLogger('silent'));
  await body(log);
  rmSync(folder, { recursive: true });
}

const away = () => {
  throw new StoreUnavailable('away');
};
/** Waits until the read under way has failed and its consequences are done. */
const settled = () => new Promise(setImmediate);

function clock(t: TestContext): (ms: number) => void {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  return (ms) => t.mock.timers.tick(ms);
}

test('a reader waits while the store is unavailable, then continues', async (t) => {
  const pass = clock(t);
  let reads = 0;
  const gate = () => {
    reads += 1;
    if (reads <= 2) away();
  };
  await withEnded(gate, async (log) => {
    const sink = new Outcome();
    new Follower(log, turns, { runId: testRunId('r'), after: 0, ownerId: testOwnerId('o') }, sink).start();
    for (let failed = 1; failed <= 2; failed += 1) {
      await settled();
      assert.equal(reads, failed, 'not asked again before its time');
      pass(1000);
    }
    assert.equal(await sink.over, 'finished');
  });
});

test('stops reading for a reader that left', async (t) => {
  const pass = clock(t);
  let reads = 0;
  const gate = () => {
    reads += 1;
    away();
  };
  await withEnded(gate, async (log) => {
    const follower = new Follower(
      log,
      turns,
      { runId: testRunId('r'), after: 0, ownerId: testOwnerId('o') },
      new Outcome(),
    );
    follower.start();
    await settled();
    follower.close();
    pass(10_000);
    await settled();
    assert.equal(reads, 1);
  });
});

test('cuts a reader that waits for the store when its run reaches its limit', async () => {
  let log: EventLog | null = null;
  const gate = () => {
    log?.hot(testRunId('r'))?.cut();
    away();
  };
  await withEnded(gate, async (eventLog) => {
    log = eventLog;
    // The first attempt's events are no longer in memory.
    log.open(testRunId('r'), 2, []);
    const sink = new Outcome();
    new Follower(log, turns, { runId: testRunId('r'), after: 0, ownerId: testOwnerId('o') }, sink).start();
    assert.equal(await sink.over, 'cut');
  });
});

test('an error other than an outage cuts the reader immediately', async () => {
  const gate = () => {
    throw new Error('broken');
  };
  await withEnded(gate, async (log) => {
    const sink = new Outcome();
    new Follower(log, turns, { runId: testRunId('r'), after: 0, ownerId: testOwnerId('o') }, sink).start();
    assert.equal(await sink.over, 'cut');
  });
});
