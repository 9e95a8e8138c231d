import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADMITTED_RUN } from '@runwire/test-kit/insert-run.ts';
import { askDatabase } from '@runwire/test-kit/postgres-server.ts';
import { until, within } from '@runwire/test-kit/shortfall.ts';
import { testChatId, testChatKey, testRunId } from '@runwire/test-kit/test-ids.ts';
import { migratedDatabase } from '@runwire/test-kit/test-store.ts';
import { sql } from 'kysely';
import { missingService } from '../../../../../test/support/services.ts';
import { newIntegrationId } from '../../domain/ids.ts';
import { insertMember } from '../queries/accounts.ts';
import { insertUnsuccessfulRun } from '../queries/active-runs.ts';
import { growChat, insertChat, insertMessage, insertRun } from '../queries/admission.ts';
import { insertChunk } from '../queries/eventlog.ts';
import { lockMember } from '../queries/locks.ts';
import { raw } from '../queries/raw.ts';
import { finishRun } from '../queries/runs.ts';
import { type Tx, UniqueViolation } from '../store.ts';
import { PostgresStore, type PostgresStoreOptions } from './postgres-store.ts';

const skip = (await missingService('postgres')) ?? false;

const integrationId = newIntegrationId('i');
const locks = (consumerId: string | null, ...names: string[]) => ({ integrationId, consumerId, names });
const chat = (chatKey: string, consumerId: string | null = null) => ({
  ...{
    chat_key: testChatKey(chatKey),
    integration_id: integrationId,
    chat_id: testChatId(chatKey),
    alias: null,
    consumer_id: consumerId,
  },
  ...{ num_messages: 1, text_bytes: 1, created_at: 1 },
});

/** A transaction that waits for a test is not ended. */
const PATIENT = { idleInTransactionMs: 40_000, lockMs: 30_000, statementMs: 30_000, answerMs: 40_000 };

/** A store with an integration and the members `a`, `b` and `c`. */
async function openStore(url: string, options: Partial<PostgresStoreOptions> = {}): Promise<PostgresStore> {
  const store = await PostgresStore.open({ url, pool: 4, pooled: false, migrate: true, waitAt: undefined, ...options });
  await askDatabase(
    url,
    `insert into integrations (integration_id, sort_key, owner_id, name_json, agency, default_agent, text_only,
      on_disconnect, max_run_seconds, keep_attachments, created_at, updated_at)
      values ('i', 'i', 'o', '""', 'demo', 'a', 0, 'continue', 60, 1, 1, 1)`,
  );
  await store.transact('account', async (tx) => {
    for (const consumerId of ['a', 'b', 'c']) {
      const member = {
        integration_id: integrationId,
        consumer_id: consumerId,
        sort_key: consumerId,
        name_json: null,
        active: 1,
        metadata_json: '{}',
      };
      await tx.run(insertMember, { ...member, own_limit: null, updated_at: 1 });
    }
  });
  return store;
}

const chats = (store: PostgresStore) =>
  store.reads.query((db) => db.selectFrom('chats').select(['chat_key', 'consumer_id']).orderBy('chat_key'));
const chatKeys = async (store: PostgresStore) => (await chats(store)).map((row) => row.chat_key);

test('admissions of one turn share a commit unless they are of one member or chat', { skip }, async () => {
  await using database = await migratedDatabase();
  await using store = await openStore(database.url);
  /** Adds a chat if the member has none. Resolves to the transaction's id, or to null. */
  const admit = (consumerId: string | null, chatKey: string) =>
    store.transact(
      'admit',
      async (tx) => {
        const own = await tx.query((db) =>
          db.selectFrom('chats').select('chat_key').where('consumer_id', '=', consumerId),
        );
        if (own.length > 0) return null;
        await tx.run(insertChat, chat(chatKey, consumerId));
        const [row] = await tx.query((db) => raw(db, sql<{ id: number }>`select txid_current() as id`));
        return row?.id;
      },
      locks(consumerId, chatKey),
    );
  const [a1, a2, b1] = await Promise.all([admit('a', 'a1'), admit('a', 'a2'), admit('b', 'b1')]);
  assert.equal(a2, null, 'it reads what the first has written');
  assert.equal(typeof a1, 'number');
  assert.equal(a1, b1);
  const [x1, x2, c1] = await Promise.allSettled([admit(null, 'x'), admit(null, 'x'), admit('c', 'c1')]);
  assert.equal(x1.status, 'fulfilled');
  assert.equal(x2.status, 'rejected');
  assert.deepEqual(x1, c1, 'the others share a transaction');
});

test('an admission waits for an earlier one with its name; others do not', { skip }, async () => {
  await using database = await migratedDatabase();
  await using store = await openStore(database.url, { times: PATIENT });
  const calls: string[] = [];
  const admit = (consumerId: string | null, chatKey: string, then?: () => Promise<void>) =>
    store.transact(
      'admit',
      async (tx) => {
        calls.push(consumerId ?? chatKey);
        await tx.run(insertChat, chat(chatKey, consumerId));
        await then?.();
      },
      locks(consumerId, chatKey),
    );
  const written = Promise.withResolvers<void>();
  const commit = Promise.withResolvers<void>();
  const first = admit(null, 'x', () => {
    written.resolve();
    return commit.promise;
  });
  await written.promise;
  const second = admit(null, 'x');
  const refused = assert.rejects(second, UniqueViolation);
  let closing: Promise<void>;
  try {
    await within('an admission of the same turn', 15_000, admit('a', 'a'));
    await within('a later admission', 15_000, admit('b', 'b'));
    assert.deepEqual(calls, ['x', 'a', 'b'], 'the second has not started, and no other was repeated');
    closing = store[Symbol.asyncDispose]();
  } finally {
    commit.resolve();
  }
  await first;
  await refused;
  await closing;
});

test('an admission that fails leaves the others of its commit alone', { skip }, async () => {
  await using database = await migratedDatabase();
  await using store = await openStore(database.url);
  const admit = (consumerId: string | null, chatKey: string, then?: (tx: Tx) => Promise<void>) =>
    store
      .transact(
        'admit',
        async (tx) => {
          await tx.run(insertChat, chat(chatKey));
          await then?.(tx);
          return chatKey;
        },
        locks(consumerId),
      )
      .catch((error: Error) => error.name);
  const refuse = () => store.transact('admit', () => Promise.reject(new RangeError('refused')), locks('b'));
  const afterWrite = async () => {
    throw new SyntaxError('refused after a write');
  };
  const rounds = [
    [admit('a', 'a1'), refuse().catch((error: Error) => error.name), admit('c', 'c1')],
    [admit('a', 'a2'), admit('b', 'b2', afterWrite), admit('c', 'c2')],
  ];
  const answers = await Promise.all(rounds.map((round) => Promise.all(round)));
  assert.deepEqual(answers, [
    ['a1', 'RangeError', 'c1'],
    ['a2', 'SyntaxError', 'c2'],
  ]);
  // The key exists: admissions of two members have no order, so it must be committed before.
  assert.deepEqual(await Promise.all([admit('a', 'a3'), admit('b', 'a1'), admit(null, 'x3')]), [
    'a3',
    'UniqueViolation',
    'x3',
  ]);
  assert.deepEqual(await chatKeys(store), ['a1', 'a2', 'a3', 'c1', 'c2', 'x3']);
});

test('an admission whose member is locked does not hold up the others', { skip }, async () => {
  await using database = await migratedDatabase();
  await using store = await openStore(database.url, { times: PATIENT });
  const locked = Promise.withResolvers<void>();
  const unlock = Promise.withResolvers<void>();
  const other = store.transact('account', async (tx) => {
    await tx.all(lockMember, { integrationId, consumerId: 'a' });
    locked.resolve();
    await unlock.promise;
    await tx.run(insertChat, chat('other', 'a'));
  });
  await locked.promise;
  const admit = (consumerId: string, ...names: string[]) =>
    store.transact(
      'admit',
      async (tx) => {
        const seen = await tx.query((db) => db.selectFrom('chats').select('chat_key'));
        await tx.run(insertChat, chat(consumerId, consumerId));
        return seen.length;
      },
      locks(consumerId, ...names),
    );
  const waiting = admit('a');
  try {
    assert.equal(await within('the other admission', 15_000, admit('b', 'shared')), 0);
    assert.equal(await within('the next with its name', 15_000, admit('c', 'shared')), 1);
  } finally {
    unlock.resolve();
  }
  await other;
  assert.equal(await waiting, 3, 'it reads what the other transaction wrote, and the other admissions');
});

const END = {
  ...{
    attempt: 1,
    nextAttempt: 1,
    status: 'completed' as const,
    step: 1,
    structured: 0,
    onlyStepJson: null,
    firstTokenMs: null,
    currency: null,
    lastEventId: 2,
  },
  ...{ errorCode: null, errorMessage: null, requestCount: 1, inputTokens: 1, cachedTokens: 0, outputTokens: 1 },
  ...{
    reasoningTokens: 0,
    byModelJson: '[]',
    chargedRuns: 1,
    chargedTokens: 2,
    chargedCredits: 0,
    startedAt: 1,
    now: 2,
  },
} as const;
const MESSAGE = {
  ...{ status: 'completed' as const, agent: 'a', content_json: '""', error_code: null, error_message: null },
  ...{ sandbox_files_json: null, created_at: 1 },
} as const;

test('on a fresh database the request path reads no table as a whole', { skip }, async () => {
  await using database = await migratedDatabase();
  {
    await using store = await openStore(database.url);
    const admit = (id: string, consumerId: string) => async (tx: Tx) => {
      const run = { chat_key: testChatKey(id), run_id: testRunId(id) };
      await tx.run(insertChat, chat(id, consumerId));
      await tx.run(insertMessage, { ...MESSAGE, ...run, message_id: `u${id}`, role: 'user' });
      await tx.run(insertRun, { ...ADMITTED_RUN, ...run, consumer_id: consumerId });
      await tx.run(insertChunk, { run_id: testRunId(id), first_id: 1, last_id: 1, data: '' });
    };
    const end = (id: string) => async (tx: Tx) => {
      const run = { chat_key: testChatKey(id), run_id: testRunId(id) };
      const unasked = { questionsJson: null, askingRunId: null, knownQuestionsJson: null };
      const grown = { chatKey: testChatKey(id), textBytes: 1, ...unasked, now: 2 };
      const counts = await Promise.all([
        tx.run(growChat, grown),
        tx.run(insertMessage, { ...MESSAGE, ...run, message_id: `a${id}`, role: 'assistant' }),
        tx.run(finishRun, { ...END, runId: testRunId(id), status: 'failed' }),
        tx.run(insertUnsuccessfulRun, { runId: testRunId(id) }),
        tx.run(insertChunk, { run_id: testRunId(id), first_id: 2, last_id: 2, data: '' }),
      ]);
      assert.deepEqual(counts, [1, 1, 1, 1, 1]);
    };
    // A connection plans a statement for all values after its fifth call. Both forms are called: alone and together.
    for (let i = 0; i < 12; i += 1) {
      const ids = i % 2 === 0 ? [`${i}`] : [`${i}x`, `${i}y`];
      const members = ['a', 'b'];
      await Promise.all(
        ids.map((id, at) => store.transact('admit', admit(id, members[at] ?? ''), locks(members[at] ?? ''))),
      );
      await Promise.all(ids.map((id) => store.transact('end', end(id))));
    }
  }
  // A connection reports its counts when it ends.
  const counts = await askDatabase(
    database.url,
    `select relname, seq_scan from pg_stat_user_tables
      where relname in ('chats', 'messages', 'runs', 'event_chunks', 'members') and seq_scan > 0`,
  );
  assert.deepEqual(counts, []);
  // Statements that are sent as one see what the others write.
  const ends = await askDatabase(database.url, 'select status, count(*)::int from unsuccessful_runs group by 1');
  assert.deepEqual(ends, [{ status: 'failed', count: 18 }]);
  const positions = await askDatabase(database.url, 'select role, position, count(*)::int from messages group by 1, 2');
  assert.deepEqual(
    new Set(positions.map((row) => `${row.role} ${row.position} ${row.count}`)),
    new Set(['user 1 18', 'assistant 2 18']),
  );
});

test('a fresh database is analyzed after its first admissions', { skip }, async () => {
  await using database = await migratedDatabase();
  await using store = await openStore(database.url);
  const admit = (id: number) => store.transact('admit', (tx) => tx.run(insertChat, chat(`${id}`)), locks(null));
  await Promise.all(Array.from({ length: 64 }, (_, id) => admit(id)));
  const analyzed = () => askDatabase(database.url, `select 1 from pg_class where relname = 'chats' and reltuples >= 0`);
  await until('the table of chats is analyzed', async () => (await analyzed()).length > 0);
});
