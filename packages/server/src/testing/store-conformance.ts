import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertChat } from '../store/queries/admission.ts';
import { insertChunk, lastStoredId } from '../store/queries/eventlog.ts';
import { first, type Store, UniqueViolation } from '../store/store.ts';

export interface StoreHarness {
  /** A store on the same data each time it is called within one test. */
  open(): Promise<Store>;
  cleanUp(): Promise<void>;
}

const chunk = (runId: string, id: number, data = 'x') => ({ runId, firstId: id, lastId: id, data });
const chat = (chatKey: string, chatId: string) => ({
  chatKey,
  integrationId: 'i',
  chatId,
  alias: null,
  consumerId: null,
  numMessages: 0,
  textBytes: 0,
  now: 1,
});

/** What every store promises; each adapter runs it. */
export function storeConformance(name: string, harness: () => Promise<StoreHarness>): void {
  const storeTest = (claim: string, body: (store: Store, again: () => Promise<Store>) => Promise<void>) =>
    test(`${name}: ${claim}`, async () => {
      const { open, cleanUp } = await harness();
      let store = await open();
      try {
        await body(store, async () => {
          await store[Symbol.asyncDispose]();
          store = await open();
          return store;
        });
      } finally {
        await store[Symbol.asyncDispose]();
        await cleanUp();
      }
    });
  const last = async (store: Store, runId: string) =>
    (await first(store.reads.all(lastStoredId, { runId })))?.last_id ?? null;

  storeTest('what a transaction wrote is there after a restart', async (store, again) => {
    await store.transact('flush', (tx) => tx.run(insertChunk, chunk('r', 1)));
    assert.equal(await last(await again(), 'r'), 1);
  });

  for (const [place, failing] of ['a', 'b', 'c'].entries()) {
    const claim = 'leaves nothing, and its neighbours of the same turn stay';
    storeTest(`a transaction that throws ${claim}: place ${place + 1} of 3`, async (store) => {
      const write = (runId: string) =>
        store.transact('flush', async (tx) => {
          await tx.run(insertChunk, chunk(runId, 1));
          if (runId !== failing) return;
          await tx.run(insertChunk, chunk(runId, 2));
          throw new Error('no');
        });
      const runs = ['a', 'b', 'c'];
      const results = await Promise.allSettled(runs.map(write));
      const expected = (kept: unknown, dropped: unknown) => runs.map((run) => (run === failing ? dropped : kept));
      assert.deepEqual(
        results.map((result) => result.status),
        expected('fulfilled', 'rejected'),
      );
      assert.deepEqual(await Promise.all(runs.map((run) => last(store, run))), expected(1, null));
    });
  }

  storeTest('a transaction reads what it wrote, and others do not before it commits', async (store) => {
    let seenOutside: number | null = -1;
    await store.transact('flush', async (tx) => {
      await tx.run(insertChunk, chunk('r', 7));
      assert.equal((await first(tx.all(lastStoredId, { runId: 'r' })))?.last_id, 7);
      seenOutside = await last(store, 'r');
    });
    assert.equal(seenOutside, null);
    assert.equal(await last(store, 'r'), 7);
  });

  storeTest('transactions commit in the order in which they were handed in', async (store) => {
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        store
          .transact('flush', async (tx) => {
            // Each sees all that came before it.
            const before = (await first(tx.all(lastStoredId, { runId: 'r' })))?.last_id ?? 0;
            assert.equal(before, index);
            await tx.run(insertChunk, chunk('r', index + 1));
          })
          .then(() => order.push(index)),
      ),
    );
    assert.deepEqual(
      order,
      [...order].sort((a, b) => a - b),
    );
  });

  storeTest('a chunk written again changes nothing', async (store) => {
    await store.transact('flush', (tx) => tx.run(insertChunk, chunk('r', 1, 'first')));
    await store.transact('flush', (tx) => tx.run(insertChunk, chunk('r', 1, 'second')));
    const rows = await store.reads.query((db) => db.selectFrom('event_chunks').select('data'));
    assert.deepEqual(
      rows.map((row) => row.data),
      ['first'],
    );
  });

  storeTest('a unique index says no in a way that can be told from other errors', async (store) => {
    await store.transact('account', (tx) => tx.run(insertChat, chat('k1', 'c')));
    await assert.rejects(
      store.transact('account', (tx) => tx.run(insertChat, chat('k2', 'c'))),
      UniqueViolation,
    );
  });

  storeTest('keeps large texts, U+0000 escapes and every plane as they are', async (store) => {
    const data = JSON.stringify(`\0 \u{1F600} \ud800 ${'é'.repeat(200_000)}`);
    await store.transact('flush', (tx) => tx.run(insertChunk, chunk('r', 1, data)));
    const rows = await store.reads.query((db) => db.selectFrom('event_chunks').select('data'));
    assert.equal(rows[0]?.data, data);
  });

  storeTest('closing twice is closing once, and a closed store takes nothing', async (store) => {
    await Promise.all([store[Symbol.asyncDispose](), store[Symbol.asyncDispose]()]);
    await assert.rejects(store.transact('flush', (tx) => tx.run(insertChunk, chunk('r', 1))));
  });
}
