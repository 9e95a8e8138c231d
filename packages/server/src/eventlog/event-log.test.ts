import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import type { MessageItem, RunEventBody } from '../domain/events.ts';
import { lastStoredId } from '../store/queries/eventlog.ts';
import { first, type Store } from '../store/store.ts';
import { createLogger } from '../telemetry/logger.ts';
import { temporaryFolder } from '../testing/test-server.ts';
import { embeddedStore } from '../testing/test-store.ts';
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

/** A log on a real store, whose flushes pass `gate` first. */
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
  (await first(store.reads.all(lastStoredId, { runId })))?.last_id ?? null;

test('what is appended while a flush is under way is stored when all was to be flushed', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let passed = 0;
  const gate = async () => {
    const mine = gates[passed];
    passed += 1;
    await mine?.promise;
  };
  await withLog(gate, async (log, store) => {
    const run = log.open('r', 1, []);
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

test('flushes that were refused together and taken one by one fail no longer: the next failure is told again', async () => {
  let refused = 0;
  const gate = async () => {
    if (refused === 0) return;
    refused -= 1;
    throw new Error('refused');
  };
  await withLog(gate, async (log, store, errors) => {
    for (const id of [1, 2]) {
      const run = log.open(`r${id}`, 1, []);
      run.append(delta('text'));
      refused = 1;
      await log.flush();
      assert.equal(await stored(store, `r${id}`), 1);
      assert.equal(errors(), id);
    }
  });
});
