import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { temporaryFolder } from '@runwire/server/testing';
import { testRunId } from '@runwire/test-kit/test-ids.ts';
import { embeddedStore } from '@runwire/test-kit/test-store.ts';
import type { MessageItem, RunEventBody } from '../domain/events.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import { lastStoredId } from '../store/queries/eventlog.ts';
import { first, type Store } from '../store/store.ts';
import { createLogger } from '../telemetry/logger.ts';
import { EventLog } from './event-log.ts';

const OPTIONS = {
  flushMs: 600_000,
  chunkBytes: 1000,
  heldBytes: 1000,
  unstoredRunBytes: 1_000_000,
  unstoredBytes: 1_000_000,
};
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
const delta = (text: string): RunEventBody => ({ type: 'delta', item, text });

/** A log on a real store. Every flush waits for `gate`. */
async function withLog(
  gate: () => Promise<void>,
  body: (log: EventLog, store: Store, errors: () => number) => Promise<void>,
): Promise<void> {
  const folder = temporaryFolder();
  await using store = await embeddedStore(folder);
  const gated: Store = {
    kind: store.kind,
    reads: store.reads,
    transact: async (name, job) => {
      await gate();
      return store.transact(name, job);
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
  let errors = 0;
  const logger = createLogger('silent');
  logger.error = () => {
    errors += 1;
  };
  await using log = new EventLog(gated, OPTIONS, logger);
  await body(log, store, () => errors);
  rmSync(folder, { recursive: true });
}

const stored = async (store: Store, runId: string) =>
  (await first(store.reads.all(lastStoredId, { runId: testRunId(runId) })))?.last_id ?? null;

test('flushAll stores what was appended during a flush', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let passed = 0;
  const gate = async () => {
    const mine = gates[passed];
    passed += 1;
    await mine?.promise;
  };
  await withLog(gate, async (log, store) => {
    const run = log.open(testRunId('r'), 1, []);
    run.append(delta('early'));
    const early = log.flush();
    run.append(delta('late'));
    const all = log.flushAll();
    for (const { resolve } of gates) resolve();
    await Promise.all([early, all]);
    assert.equal(await stored(store, 'r'), 2);
    assert.equal(run.wantsFlush, false);
  });
});

test('logs the next failure after refused flushes succeeded one by one', async () => {
  let refused = 0;
  const gate = async () => {
    if (refused === 0) return;
    refused -= 1;
    throw new Error('refused');
  };
  await withLog(gate, async (log, store, errors) => {
    for (const id of [1, 2]) {
      const run = log.open(testRunId(`r${id}`), 1, []);
      run.append(delta('text'));
      refused = 1;
      await log.flush();
      assert.equal(await stored(store, `r${id}`), 1);
      assert.equal(errors(), id);
    }
  });
});

const MEBIBYTE = 1024 * 1024;

/** Three runs with 12 MiB of events, each event in its own chunk. */
const sayMuch = (log: EventLog) =>
  ['r1', 'r2', 'r3'].map((runId) => {
    const run = log.open(testRunId(runId), 1, []);
    for (let i = 0; i < 4; i += 1) run.append(delta('x'.repeat(MEBIBYTE)));
    return run;
  });

test('splits a large flush into transactions and stores no chunk twice', async () => {
  const commits: ('taken' | 'away')[] = [];
  let away = 2;
  const gate = async () => {
    commits.push(commits.length + 1 === away ? 'away' : 'taken');
    if (commits.at(-1) === 'away') throw new StoreUnavailable('away');
  };
  await withLog(gate, async (log, store) => {
    const runs = sayMuch(log);
    await log.flush();
    assert.deepEqual(commits, ['taken', 'away']);
    assert.deepEqual([await stored(store, 'r1'), await stored(store, 'r3')], [4, null]);
    const left = log.unstoredBytes;
    assert.ok(left > 4 * MEBIBYTE && left < 8 * MEBIBYTE, `${left} bytes are left`);
    away = 0;
    await log.flush();
    assert.equal(commits.length, 3, 'the rest is little enough for one');
    for (const { runId } of runs) assert.equal(await stored(store, runId), 4);
    assert.equal(log.unstoredBytes, 0);
  });
});

test('stores nothing of a run that was lost between two transactions of a flush', async () => {
  let log: EventLog;
  let commits = 0;
  const gate = async () => {
    commits += 1;
    // During the first transaction.
    if (commits === 1) for (const runId of ['r2', 'r3']) log.drop(log.hot(testRunId(runId)) ?? assert.fail());
  };
  await withLog(gate, async (eventLog, store) => {
    log = eventLog;
    sayMuch(log);
    await log.flush();
    assert.deepEqual([commits, await stored(store, 'r3')], [1, null]);
  });
});

test('stores no events of a run after refused ones', async () => {
  let commits = 0;
  const gate = async () => {
    commits += 1;
    // Refuses the first transaction, and its run when it is tried alone.
    if (commits <= 2) throw new Error('refused');
  };
  await withLog(gate, async (log, store) => {
    const run = log.open(testRunId('r'), 1, []);
    let refused = 0;
    run.onRefused = () => {
      refused += 1;
    };
    for (let i = 0; i < 12; i += 1) run.append(delta('x'.repeat(MEBIBYTE)));
    await log.flush();
    assert.deepEqual([commits, refused, await stored(store, 'r')], [2, 1, null]);
    run.abandon();
  });
});

test('a log that waits for room makes events durable that were committed early', async () => {
  const folder = temporaryFolder();
  await using store = await embeddedStore(folder);
  let early = Promise.withResolvers<void>();
  const committing: Store = {
    kind: store.kind,
    reads: store.reads,
    transact: async (name, job) => {
      const result = await store.transact(name, job);
      early.resolve();
      return result;
    },
    transactEarly: async (name, job) => {
      await store.transact(name, job);
      early = Promise.withResolvers();
      return { durable: early.promise };
    },
    [Symbol.asyncDispose]: async () => {},
  };
  {
    await using log = new EventLog(committing, OPTIONS, createLogger('silent'));
    for (const moment of ['after', 'during']) {
      const run = log.open(testRunId(moment), 1, []);
      run.append(delta('x'.repeat(OPTIONS.unstoredBytes)));
      const flush = log.flush();
      if (moment === 'after') await flush;
      assert.equal(run.isFull, true, 'the events are not durable yet');
      await new Promise<void>((resolve) => run.onceRoom(resolve));
      assert.equal(run.isFull, false);
    }
  }
  rmSync(folder, { recursive: true });
});
