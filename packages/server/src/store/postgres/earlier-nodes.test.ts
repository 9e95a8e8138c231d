import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADMITTED_RUN } from '@runwire/test-kit/insert-run.ts';
import { testChatKey, testRunId } from '@runwire/test-kit/test-ids.ts';
import { freshDatabase, postgresStore } from '@runwire/test-kit/test-store.ts';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { missingService } from '../../../../../test/support/services.ts';
import { newIntegrationId } from '../../domain/ids.ts';
import { EarlierNodesWatch } from '../earlier-nodes.ts';
import { migrate } from '../migrate.ts';
import { deleteActiveRun, insertActiveRun } from '../queries/active-runs.ts';
import { insertRun } from '../queries/admission.ts';
import { insertNode } from '../queries/nodes.ts';
import { raw } from '../queries/raw.ts';
import { finishRun, runById } from '../queries/runs.ts';
import type { Schema } from '../schema.ts';
import { ignoreErrorEvents } from './settings.ts';

const skip = (await missingService('postgres')) ?? false;

/** A run as the version before inserts it. */
const oldRun = (runId: string, chatKey: string) => `insert into runs (run_id, integration_id, chat_key, status, agency,
  agent, node_id, attempt, crashes, step, journal_format, held, unit, day, request_count, input_tokens, cached_tokens,
  output_tokens, reasoning_tokens, by_model_json, created_at, file_access)
  values ('${runId}', 'i', '${chatKey}', 'admitted', 'a', 'A', 'old', 1, 0, 0, 1, 7, 'runs', 1, 0, 0, 0, 0, 0, '[]', 5, 'all')`;
const oldNode = (nodeId: string) =>
  `insert into nodes (node_id, boot, dead, version, started_at) values ('${nodeId}', 'b', 0, '0.1.0', 1)`;

/** A chat with open questions, as the version before stores it. A text of a model may contain NUL. */
const questions = (runId: string) =>
  `'{"runId":"${runId}","agent":"A","questions":[{"questionId":"${runId}","callId":"\\u0000"}]}'`;
const oldChat = (chatKey: string, runId: string) => `insert into chats (chat_key, integration_id, chat_id, num_messages,
  text_bytes, questions_json, created_at, updated_at) values ('${chatKey}', 'i', '${chatKey}', 1, 1, ${questions(runId)}, 1, 1)`;

const USAGE = {
  requestCount: 1,
  inputTokens: 1,
  cachedTokens: 0,
  outputTokens: 1,
  reasoningTokens: 0,
  byModelJson: '[]',
};
const integrationId = newIntegrationId('i');
const NEW_RUN = {
  ...ADMITTED_RUN,
  run_id: testRunId('new'),
  integration_id: integrationId,
  chat_key: testChatKey('c9'),
  consumer_id: 'ann',
  usage_request_id: 'u',
  fingerprint: 'f',
  node_id: 'new',
};
const END = {
  ...USAGE,
  runId: testRunId('new'),
  attempt: 1,
  nextAttempt: 1,
  status: 'completed' as const,
  step: 1,
  structured: 0,
  onlyStepJson: '["m",2,3,4,5]',
  firstTokenMs: null,
  currency: null,
  lastEventId: 9,
  errorCode: null,
  errorMessage: null,
  chargedRuns: 1,
  chargedTokens: 2,
  chargedCredits: 0,
  startedAt: 5,
  now: 6,
};

test('nodes of the version before keep the active runs right until they end', { skip }, async () => {
  await using database = await freshDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 2 });
  ignoreErrorEvents(pool);
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  try {
    const ask = async (text: string) => (await pool.query<Record<string, unknown>>(text)).rows;
    const active = () => ask('select run_id, node_id, held::int from active_runs order by run_id');
    const superseded = () =>
      ask(`select relname as name from pg_class where relname in ('runs_active_chat', 'runs_finished')
        union all select proname from pg_proc
        where proname in ('track_run', 'queue_uncounted_run', 'keep_erased_usage', 'follow_owner') order by 1`);
    await migrate(db, 'postgres', { upTo: '0023-members-by-row' });
    await ask(oldNode('old'));
    await ask(oldRun('r1', 'c1'));
    await ask(oldChat('c1', 'r1'));
    await migrate(db, 'postgres');

    await ask(oldRun('r2', 'c2'));
    await assert.rejects(ask(oldRun('r3', 'c2')), { code: '23505' });
    await ask(`update runs set node_id = 'other' where run_id = 'r2'`);
    assert.deepEqual(await active(), [
      { run_id: 'r1', node_id: 'old', held: 7 },
      { run_id: 'r2', node_id: 'other', held: 7 },
    ]);
    await ask(`update runs set status = 'failed', completed_at = 9 where run_id = 'r1'`);
    assert.deepEqual(await active(), [{ run_id: 'r2', node_id: 'other', held: 7 }]);
    assert.deepEqual(await ask('select run_id, status from unsuccessful_runs'), [{ run_id: 'r1', status: 'failed' }]);
    assert.equal((await superseded()).length, 6);
    // An end that the rollups miss is queued, and an erasure keeps columns that the earlier version does not know.
    assert.deepEqual(await ask('select run_id, integration_id from uncounted_runs'), [
      { run_id: 'r1', integration_id: newIntegrationId('i') },
    ]);
    await ask(
      `insert into erasures (integration_id, erased_id, consumer_id, started_at) values ('i', 'erased_1', 'ann', 1)`,
    );
    await ask(`insert into usage_days (integration_id, consumer_id, day, runs, tokens, credits, ended_runs, input_tokens,
        measures_json) values ('i', 'ann', 1, 1, 2, 0, 4, 7, '{"failed":3}')`);
    await ask(`insert into usage_days (integration_id, consumer_id, day, runs, tokens, credits)
      select integration_id, 'erased_1', day, runs, tokens, credits from usage_days where consumer_id = 'ann'`);
    await ask(`delete from usage_days where consumer_id = 'ann'`);
    assert.deepEqual(
      await ask('select consumer_id, tokens::int, ended_runs::int, input_tokens::int, measures_json from usage_days'),
      [{ consumer_id: 'erased_1', tokens: 2, ended_runs: 4, input_tokens: 7, measures_json: '{"failed": 3}' }],
    );

    // The first person of an owner is what the version before writes of the owner.
    const people = () => ask('select person_id, owner_id, email, role from people');
    await ask(`insert into owners (owner_id, email, administrator, created_at) values ('o1', null, 0, 1)`);
    await ask(`update owners set email = 'ann@example.com' where owner_id = 'o1'`);
    const ann = { person_id: 'o1', owner_id: 'o1', email: 'ann@example.com', role: 'manager' };
    assert.deepEqual(await people(), [ann]);
    await ask(`delete from owners where owner_id = 'o1'`);
    assert.deepEqual(await people(), []);

    await using store = await postgresStore(database.url);
    await using watch = new EarlierNodesWatch(store, 3_600_000, (error) => assert.fail(error as Error));
    await watch.start();
    assert.equal(watch.areAlive(), true);
    const newNode = { node_id: 'new', boot: 'b', version: '0.1.0', started_at: 1, host: 'h', address: null };
    await store.transact('account', (tx) => tx.run(insertNode, newNode));
    await ask(`update nodes set dead = 1 where node_id = 'old'`);
    await watch.look();
    assert.equal(watch.areAlive(), false);
    assert.deepEqual(await superseded(), []);

    // The run whose questions are open is right after the migration, and after each write of the version before.
    const asking = async () => (await ask(`select asking_run_id from chats where chat_key = 'c1'`))[0]?.asking_run_id;
    const found = async (runId: string) =>
      (await store.reads.all(runById, { integrationId, runId }))[0]?.questions_json;
    const write = (json: string) => ask(`update chats set questions_json = ${json} where chat_key = 'c1'`);
    assert.equal(await asking(), 'r1');
    assert.match((await found('r1')) ?? '', /^\{"runId":"r1"/);
    await write('null');
    assert.equal(await asking(), null);
    await ask(oldRun('r4', 'c1'));
    await write(questions('r4'));
    assert.equal(await asking(), 'r4');
    assert.equal(await found('r1'), null);
    assert.match((await found('r4')) ?? '', /^\{"runId":"r4"/);

    // A node that was fenced, or that started while the first new node migrated.
    await assert.rejects(ask(oldNode('late')), { code: '23514' });
    const withoutRoles = oldNode('late').replace('started_at)', 'started_at, generation)').replace(', 1)', ', 1, 3)');
    await assert.rejects(ask(withoutRoles), { code: '23514' });

    // Nothing else keeps a run's end from an update in place.
    await store.transact('account', async (tx) => {
      await tx.run(insertRun, NEW_RUN);
      await tx.run(insertActiveRun, NEW_RUN);
    });
    await ask('drop index if exists runs_to_compact');
    await store.transact('account', async (tx) => {
      assert.equal(await tx.run(finishRun, END), 1);
      assert.equal(await tx.run(deleteActiveRun, NEW_RUN), 1);
      const hot = await tx.query((query) =>
        raw(query, sql`select pg_stat_get_xact_tuples_hot_updated('runs'::regclass) as hot`),
      );
      assert.deepEqual(hot, [{ hot: 1 }]);
    });
  } finally {
    await db.destroy();
  }
});
