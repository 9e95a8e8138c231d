import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newIntegrationId } from '@runwire/server/src/domain/ids.ts';
import { parseMeasures } from '@runwire/server/src/domain/run/measures.ts';
import { insertMember } from '@runwire/server/src/store/queries/accounts.ts';
import { growChat, insertChat, insertMessage } from '@runwire/server/src/store/queries/admission.ts';
import { raiseUsageDay } from '@runwire/server/src/store/queries/allowance.ts';
import { chunkAfter, insertChunk, lastStoredId } from '@runwire/server/src/store/queries/eventlog.ts';
import { lockMember } from '@runwire/server/src/store/queries/locks.ts';
import { raiseUsageHour, type UsageHour } from '@runwire/server/src/store/queries/rollups.ts';
import { first, type Store, UniqueViolation } from '@runwire/server/src/store/store.ts';
import { testChatId, testChatKey, testRunId } from './test-ids.ts';

export interface StoreHarness {
  /** A store on the same data each time it is called within one test. */
  open(): Promise<Store>;
  cleanUp(): Promise<void>;
}

const chunk = (runId: string, id: number, data = 'x') => ({
  run_id: testRunId(runId),
  first_id: id,
  last_id: id,
  data,
});
const chat = (chatKey: string, chatId: string) => ({
  chat_key: testChatKey(chatKey),
  integration_id: newIntegrationId('i'),
  chat_id: testChatId(chatId),
  alias: null,
  consumer_id: null,
  num_messages: 0,
  text_bytes: 0,
  created_at: 1,
});

const member = {
  integration_id: newIntegrationId('i'),
  consumer_id: 'm',
  sort_key: 's',
  name_json: null,
  active: 1,
  metadata_json: '{}',
  own_limit: null,
  updated_at: 1,
};

/** One ended run's usage. */
export const USAGE_HOUR: UsageHour = {
  ...{
    integrationId: newIntegrationId('i'),
    hour: 24,
    nodeId: 'n',
    agent: 'a',
    model: 'm',
    errorCode: '',
    agencyVersion: '',
  },
  ...{ status: 'completed', hasMember: 1, rerun: 0, runs: 1, modelRuns: 1, newestRunId: 'r' },
  ...{ requestCount: 1, inputTokens: 2, cachedTokens: 0, outputTokens: 3, reasoningTokens: 0 },
  ...{ chargedRuns: 1, chargedModelRuns: 1, chargedTokens: 5, chargedCredits: 0, measuresJson: '{"d1":1}' },
};

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
    (await first(store.reads.all(lastStoredId, { runId: testRunId(runId) })))?.last_id ?? null;

  storeTest('a committed transaction is stored after a restart', async (store, again) => {
    await store.transact('flush', (tx) => tx.run(insertChunk, chunk('r', 1)));
    assert.equal(await last(await again(), 'r'), 1);
  });

  for (const [place, failing] of ['a', 'b', 'c'].entries()) {
    const claim = 'stores nothing, and others of the same turn commit';
    storeTest(`a transaction that throws ${claim}: number ${place + 1} of 3`, async (store) => {
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

  storeTest('a transaction reads its own writes; others see them after its commit', async (store) => {
    let seenOutside: number | null = -1;
    await store.transact('flush', async (tx) => {
      await tx.run(insertChunk, chunk('r', 7));
      assert.equal((await first(tx.all(lastStoredId, { runId: testRunId('r') })))?.last_id, 7);
      seenOutside = await last(store, 'r');
    });
    assert.equal(seenOutside, null);
    assert.equal(await last(store, 'r'), 7);
  });

  storeTest('transactions of a run commit in the order in which they were sent', async (store) => {
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        store
          .transact('flush', async (tx) => {
            // Each transaction sees all earlier ones.
            const before = (await first(tx.all(lastStoredId, { runId: testRunId('r') })))?.last_id ?? 0;
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

  storeTest('a violated unique index is a UniqueViolation', async (store) => {
    await store.transact('account', (tx) => tx.run(insertChat, chat('k1', 'c')));
    await assert.rejects(
      store.transact('account', (tx) => tx.run(insertChat, chat('k2', 'c'))),
      UniqueViolation,
    );
  });

  storeTest('stores large texts, U+0000 escapes and every plane unchanged', async (store) => {
    const data = JSON.stringify(`\0 \u{1F600} \ud800 ${'é'.repeat(200_000)}`);
    await store.transact('flush', (tx) => tx.run(insertChunk, chunk('r', 1, data)));
    const rows = await store.reads.query((db) => db.selectFrom('event_chunks').select('data'));
    assert.equal(rows[0]?.data, data);
  });

  storeTest('a refused transaction fails alone, and the others keep their order', async (store) => {
    const done: number[] = [];
    const refused: unknown[] = [];
    const jobs = Array.from({ length: 9 }, (_, index) =>
      store
        .transact('step', async (tx) => {
          await tx.run(insertChunk, chunk('r', index + 1));
          if (index % 3 === 1) await tx.run(insertChat, chat('same', `c${index}`));
        })
        .then(
          () => done.push(index),
          (error: unknown) => refused.push(error instanceof UniqueViolation ? index : error),
        ),
    );
    await Promise.all(jobs);
    assert.deepEqual(
      [done, refused],
      [
        [0, 1, 2, 3, 5, 6, 8],
        [4, 7],
      ],
    );
    const rows = await store.reads.query((db) => db.selectFrom('event_chunks').select('first_id').orderBy('first_id'));
    assert.deepEqual(
      rows.map((row) => row.first_id),
      [1, 2, 3, 4, 6, 7, 9],
    );
  });

  storeTest('concurrent writes take effect in their order', async (store) => {
    const none = { error_code: null, error_message: null, sandbox_files_json: null };
    const unasked = { alias: null, questionsJson: null, askingRunId: null, knownQuestionsJson: null };
    const message = { chat_key: testChatKey('k'), run_id: testRunId('r'), agent: 'a', content_json: '""', ...none };
    await store.transact('end', async (tx) => {
      await Promise.all([
        tx.run(insertChat, chat('k', 'c')),
        ...[1, 2, 3].flatMap((id) => [
          tx.run(growChat, { chatKey: testChatKey('k'), textBytes: 1, ...unasked, now: id }),
          tx.run(insertMessage, {
            ...message,
            message_id: `m${id}`,
            role: 'user',
            status: 'completed',
            created_at: id,
          }),
        ]),
      ]);
    });
    const rows = await store.reads.query((db) =>
      db.selectFrom('messages').select(['message_id', 'position']).orderBy('position'),
    );
    assert.deepEqual(
      rows.map((row) => [row.message_id, row.position]),
      [
        ['m1', 1],
        ['m2', 2],
        ['m3', 3],
      ],
    );
  });

  storeTest('integers are numbers up to the largest safe one, also sums and counts', async (store) => {
    const largest = Number.MAX_SAFE_INTEGER;
    await store.transact('flush', (tx) =>
      tx.run(insertChunk, { run_id: testRunId('r'), first_id: largest - 1, last_id: largest, data: '' }),
    );
    assert.equal(await last(store, 'r'), largest);
    const after = await first(store.reads.all(chunkAfter, { runId: testRunId('r'), after: 3_000_000_000 }));
    assert.equal(after?.last_id, largest);
    const [totals] = await store.reads.query((db) =>
      db
        .selectFrom('event_chunks')
        .select((eb) => [eb.fn.sum<number>('last_id').as('sum'), eb.fn.countAll<number>().as('count')]),
    );
    assert.deepEqual({ ...totals }, { sum: largest, count: 1 });
  });

  storeTest('an id with U+0000 neither fails nor finds another row', async (store) => {
    await store.transact('flush', (tx) => tx.run(insertChunk, chunk('r\ufffd', 1)));
    assert.equal(await last(store, 'r\0'), null);
    await store.transact('flush', (tx) => tx.run(insertChunk, chunk('r\0', 2)));
    assert.equal(await last(store, 'r\0'), 2);
  });

  storeTest('ids sort byte by byte, capitals before small letters', async (store) => {
    const ids = ['b', 'B', 'a_', 'aZ', 'a0', 'é', 'A'];
    await store.transact('flush', async (tx) => {
      for (const id of ids) await tx.run(insertChunk, chunk(id, 1));
    });
    const rows = await store.reads.query((db) => db.selectFrom('event_chunks').select('run_id').orderBy('run_id'));
    assert.deepEqual(
      rows.map((row) => row.run_id),
      ids.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
  });

  storeTest('concurrent admissions never reserve more than a member has', async (store) => {
    const limit = 7;
    await store.transact('account', (tx) => tx.run(insertMember, member));
    const admit = (index: number) =>
      store.transact('admit', async (tx) => {
        await tx.all(lockMember, { integrationId: newIntegrationId('i'), consumerId: 'm' });
        const [used] = await tx.query((db) =>
          db
            .selectFrom('chats')
            .select((eb) => eb.fn.countAll<number>().as('count'))
            .where('consumer_id', '=', 'm'),
        );
        if (Number(used?.count) >= limit) throw new Error('exhausted');
        await tx.run(insertChat, { ...chat(`k${index}`, `c${index}`), consumer_id: 'm' });
      });
    const results = await Promise.allSettled(Array.from({ length: 40 }, (_, index) => admit(index)));
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, limit);
    for (const result of results) if (result.status === 'rejected') assert.equal(result.reason.message, 'exhausted');
  });

  storeTest('day totals count the changes of concurrent transactions', async (store) => {
    const raise = (consumerId: string) =>
      store.transact('end', (tx) =>
        tx.run(raiseUsageDay, {
          integrationId: newIntegrationId('i'),
          consumerId,
          day: 1,
          runs: 1,
          tokens: 2,
          credits: 3,
          creditMillionths: 0,
        }),
      );
    await Promise.all(Array.from({ length: 30 }, (_, index) => raise(`m${index % 3}`)));
    const rows = await store.reads.query((db) => db.selectFrom('usage_days').selectAll().orderBy('consumer_id'));
    assert.deepEqual(
      rows.map(({ consumer_id, runs, tokens, credits }) => [consumer_id, runs, tokens, credits]),
      ['m0', 'm1', 'm2'].map((id) => [id, 10, 20, 30]),
    );
  });

  storeTest('hour totals count all ends of concurrent transactions', async (store) => {
    const end = () =>
      store.transact('end', async (tx) => {
        // A transaction combines its writes to a row, and so do one commit's transactions on SQLite.
        await Promise.all([1, 2].map(() => tx.run(raiseUsageHour, USAGE_HOUR)));
      });
    await Promise.all(Array.from({ length: 10 }, end));
    const rows = await store.reads.query((db) =>
      db.selectFrom('usage_hours').select(['runs', 'charged_tokens', 'measures_json']),
    );
    assert.deepEqual(
      rows.map((row) => [row.runs, row.charged_tokens, parseMeasures(row.measures_json)]),
      [[20, 100, { d1: 20 }]],
    );
  });

  storeTest('a second close does nothing, and a closed store accepts nothing', async (store) => {
    await Promise.all([store[Symbol.asyncDispose](), store[Symbol.asyncDispose]()]);
    await assert.rejects(store.transact('flush', (tx) => tx.run(insertChunk, chunk('r', 1))));
  });
}
