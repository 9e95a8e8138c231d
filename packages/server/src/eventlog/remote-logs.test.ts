import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PageTurns } from '@runwire/lib/page-turns.ts';
import { insertRun } from '@runwire/test-kit/insert-run.ts';
import { testOwnerId, testRunId } from '@runwire/test-kit/test-ids.ts';
import { migratedDatabase, postgresStore } from '@runwire/test-kit/test-store.ts';
import { missingService } from '../../../../test/support/services.ts';
import { lastFrameId, type MessageItem, type RunEvent } from '../domain/run/events.ts';
import { type Hint, type Notifier, silentNotifier } from '../store/notifier.ts';
import { chunkAfter, insertChunk, lastStoredId } from '../store/queries/eventlog.ts';
import type { Store } from '../store/store.ts';
import { createLogger } from '../telemetry/logger.ts';
import { encodeChunk } from './chunk-codec.ts';
import { EventLog } from './event-log.ts';
import { Follower, type Sink } from './follow.ts';
import { RemoteLogs } from './remote-logs.ts';

const turns = new PageTurns(1);

const skip = (await missingService('postgres')) ?? false;
const OPTIONS = {
  flushMs: 600_000,
  chunkBytes: 1000,
  heldBytes: 1000,
  unstoredRunBytes: 1_000_000,
  unstoredBytes: 1_000_000,
};
const logger = createLogger('silent');
const item: MessageItem = {
  kind: 'message',
  id: 'msg_1',
  agent: 'A',
  callerAgent: null,
  outputIndex: 0,
  text: '',
  complete: false,
  timestamp: 1,
};
const delta = (id: number): RunEvent => ({ type: 'delta', item, text: `${id}`, id });

/** Takes everything, and resolves when it has reached an id. */
class Taker implements Sink {
  readonly ids: number[] = [];
  full = false;
  outcome: 'finished' | 'cut' | null = null;
  #wake: (() => void)[] = [];

  take(events: readonly RunEvent[], from: number, cursor: number): number {
    let last = cursor;
    for (const event of events.slice(from)) {
      this.ids.push(event.id);
      last = lastFrameId(event);
    }
    this.#changed();
    return last;
  }

  finish(): void {
    this.outcome = 'finished';
    this.#changed();
  }

  cut(): void {
    this.outcome = 'cut';
    this.#changed();
  }

  #changed(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }

  async until(holds: (taker: Taker) => boolean): Promise<void> {
    while (!holds(this)) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }
}

const stored = (store: Store, runId: string, ...events: RunEvent[]) => {
  const [first, last] = [events[0] as RunEvent, events.at(-1) as RunEvent];
  const chunk = { run_id: testRunId(runId), first_id: first.id, last_id: lastFrameId(last), data: encodeChunk(events) };
  return store.transact('flush', (tx) => tx.run(insertChunk, chunk));
};

async function withLogs(
  notifier: Notifier,
  body: (log: EventLog, remote: RemoteLogs, store: Store) => Promise<void>,
  watched: (store: Store) => Store = (store) => store,
): Promise<void> {
  await using database = await migratedDatabase();
  await using real = await postgresStore(database.url);
  const store = watched(real);
  await using remote = new RemoteLogs(store.reads, notifier, logger);
  await using log = new EventLog(store, OPTIONS, logger, null, remote);
  await body(log, remote, store);
}

test('readers follow a run that this node takes over', { skip }, async () => {
  await withLogs(silentNotifier, async (log, remote, store) => {
    await insertRun(store, 'run_1', { status: 'running' });
    await stored(store, 'run_1', delta(1), delta(2));
    const taker = new Taker();
    const follower = new Follower(
      log,
      turns,
      { runId: testRunId('run_1'), after: 0, ownerId: testOwnerId('o') },
      taker,
    );
    follower.start();
    await taker.until(({ ids }) => ids.includes(2));
    while (remote.size === 0) await new Promise(setImmediate);
    // This node has taken the run over: from here on its own events are delivered.
    const opening: RunEvent = {
      type: 'resumed',
      runId: testRunId('run_1'),
      attempt: 2,
      discardAfter: 2,
      id: 1_000_000_001,
    };
    await stored(store, 'run_1', opening);
    const hot = log.open(testRunId('run_1'), 2, [opening]);
    assert.equal(remote.size, 0);
    await taker.until(({ ids }) => ids.includes(opening.id));
    const appended = hot.append({ type: 'delta', item, text: 'hot' });
    await taker.until(({ ids }) => ids.includes(appended?.id ?? 0));
    assert.deepEqual(taker.ids, [1, 2, opening.id, appended?.id]);
    follower.close();
  });
});

/** A store that calls a function before each read; the function may reject. */
const beforeReads = (store: Store, look: (statement: unknown) => void): Store => ({
  kind: store.kind,
  transact: store.transact.bind(store),
  reads: {
    all: async (statement, params) => {
      look(statement);
      return store.reads.all(statement, params);
    },
    query: (build) => store.reads.query(build),
  },
  [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
});

test('a cursor after all stored events neither blocks other readers nor spins', {
  skip,
}, async () => {
  let pages = 0;
  const body = async (log: EventLog, remote: RemoteLogs, store: Store) => {
    await insertRun(store, 'run_1', { status: 'running' });
    await stored(store, 'run_1', delta(1), delta(2));
    const [ahead, behind] = [new Taker(), new Taker()];
    const followers = [
      new Follower(log, turns, { runId: testRunId('run_1'), after: 5, ownerId: testOwnerId('o') }, ahead),
      new Follower(log, turns, { runId: testRunId('run_1'), after: 2, ownerId: testOwnerId('o') }, behind),
    ];
    followers[0]?.start();
    while (remote.size === 0) await new Promise(setImmediate);
    followers[1]?.start();
    // During the time of twenty queries, a spinning reader would make far more than the single query that it needs.
    for (let asked = 0; asked < 20; asked += 1) await store.reads.all(lastStoredId, { runId: testRunId('run_1') });
    assert.ok(pages <= 2, `${pages} pages were asked for`);
    for (const id of [3, 4, 5, 6]) await stored(store, 'run_1', delta(id));
    await Promise.all([ahead, behind].map((taker) => taker.until(({ ids }) => ids.includes(6))));
    assert.deepEqual([ahead.ids, behind.ids], [[6], [3, 4, 5, 6]]);
    await stored(store, 'run_1', { type: 'end', id: 7 });
    await Promise.all([ahead, behind].map((taker) => taker.until(({ outcome }) => outcome === 'finished')));
    for (const follower of followers) follower.close();
  };
  const counted = (store: Store) =>
    beforeReads(store, (statement) => {
      if (statement === chunkAfter) pages += 1;
    });
  await withLogs(silentNotifier, body, counted);
});

test('readers of one run share each read, and a reader that left gets nothing', { skip }, async () => {
  const hear: ((hint: Hint) => void)[] = [];
  const listen = (onHint: (hint: Hint) => void) => {
    hear.push(onHint);
    return () => {};
  };
  const notifier: Notifier = { ...silentNotifier, listen };
  await withLogs(notifier, async (log, remote, store) => {
    await insertRun(store, 'run_1', { status: 'running' });
    await stored(store, 'run_1', delta(1));
    const takers = [new Taker(), new Taker(), new Taker()];
    const followers = takers.map(
      (taker) => new Follower(log, turns, { runId: testRunId('run_1'), after: 0, ownerId: testOwnerId('o') }, taker),
    );
    for (const follower of followers) follower.start();
    await Promise.all(takers.map((taker) => taker.until(({ ids }) => ids.includes(1))));
    while (remote.size === 0) await new Promise(setImmediate);
    followers[2]?.close();
    await stored(store, 'run_1', delta(2), delta(3));
    await stored(store, 'run_1', { type: 'end', id: 4 });
    for (const onHint of hear) onHint({ kind: 'log', nodeId: 'other' });
    const open = takers.slice(0, 2);
    await Promise.all(open.map((taker) => taker.until(({ outcome }) => outcome !== null)));
    for (const { ids, outcome } of open) assert.deepEqual([ids, outcome], [[1, 2, 3, 4], 'finished']);
    assert.deepEqual(takers[2]?.ids, [1]);
    assert.equal(remote.size, 0, 'a run without readers is forgotten');
  });
});

test('cuts a reader if no event will follow', { skip }, async () => {
  await withLogs(silentNotifier, async (log, remote, store) => {
    await insertRun(store, 'ended', { status: 'completed' });
    for (const runId of ['ended', 'unknown']) {
      const taker = new Taker();
      new Follower(log, turns, { runId: testRunId(runId), after: 7, ownerId: testOwnerId('o') }, taker).start();
      await taker.until(({ outcome }) => outcome !== null);
      assert.deepEqual([taker.outcome, taker.ids], ['cut', []]);
    }
    assert.equal(remote.size, 0);
  });
});
