import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '@runwire/test-kit/test-server.ts';
import { embeddedStore } from '@runwire/test-kit/test-store.ts';
import type { RunEvent } from '../domain/events.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import { insertChunk } from '../store/queries/eventlog.ts';
import type { Store } from '../store/store.ts';
import { createLogger } from '../telemetry/logger.ts';
import { encodeChunk } from './chunk-codec.ts';
import { EventLog } from './event-log.ts';
import { Follower, type Sink } from './follow.ts';

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

/** The log of a run that ended, on a real store whose reads pass `gate` first. */
async function withEnded(gate: () => void, body: (log: EventLog) => Promise<void>): Promise<void> {
  const folder = temporaryFolder();
  await using store = await embeddedStore(folder);
  const data = encodeChunk([{ type: 'end', id: 1 }]);
  await store.transact('flush', (tx) => tx.run(insertChunk, { runId: 'r', firstId: 1, lastId: 1, data }));
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
/** Until the read under way has failed, and whatever follows from that. */
const settled = () => new Promise(setImmediate);

function clock(t: TestContext): (ms: number) => void {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  return (ms) => t.mock.timers.tick(ms);
}

test('a reader waits while the store is away, and reads on when it is back', async (t) => {
  const pass = clock(t);
  let reads = 0;
  const gate = () => {
    reads += 1;
    if (reads <= 2) away();
  };
  await withEnded(gate, async (log) => {
    const sink = new Outcome();
    new Follower(log, 'r', 0, sink).start();
    for (let failed = 1; failed <= 2; failed += 1) {
      await settled();
      assert.equal(reads, failed, 'not asked again before its time');
      pass(1000);
    }
    assert.equal(await sink.over, 'finished');
  });
});

test('one that goes meanwhile is not read for any more', async (t) => {
  const pass = clock(t);
  let reads = 0;
  const gate = () => {
    reads += 1;
    away();
  };
  await withEnded(gate, async (log) => {
    const follower = new Follower(log, 'r', 0, new Outcome());
    follower.start();
    await settled();
    follower.close();
    pass(10_000);
    await settled();
    assert.equal(reads, 1);
  });
});

test('whoever waits for the store when its run comes to its limit is cut, as all its readers are', async () => {
  let log: EventLog | null = null;
  const gate = () => {
    log?.hot('r')?.cut();
    away();
  };
  await withEnded(gate, async (eventLog) => {
    log = eventLog;
    // Its first attempt is no longer held.
    log.open('r', 2, []);
    const sink = new Outcome();
    new Follower(log, 'r', 0, sink).start();
    assert.equal(await sink.over, 'cut');
  });
});

test('what is no outage cuts the reader at once', async () => {
  const gate = () => {
    throw new Error('broken');
  };
  await withEnded(gate, async (log) => {
    const sink = new Outcome();
    new Follower(log, 'r', 0, sink).start();
    assert.equal(await sink.over, 'cut');
  });
});
