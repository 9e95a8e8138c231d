import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { askDatabase, freshDatabase, startTestServer } from '@runwire/test-kit';
import { getFolder } from './support/cli-process.ts';
import { missingService } from './support/services.ts';

const skip = (await missingService('postgres')) ?? false;
const limits = { leaseMs: 3000, beatMs: 500, sweepMs: 3_600_000 };
const FIRST_UNDONE = '0008-files';

/** What the rollups add to `usage_days`. */
const USAGE_COLUMNS = [
  ...['ended_runs', 'request_count', 'input_tokens', 'cached_tokens', 'output_tokens', 'reasoning_tokens'],
  ...['charged_runs', 'charged_tokens', 'charged_credits', 'newest_run_id', 'measures_json'],
];

/** On PostgreSQL, triggers need columns of these tables, and the events are partitioned. */
const POSTGRES_EARLIER = [
  ...[
    'queue_uncounted_run',
    'keep_erased_usage',
    'keep_erased_measures',
    'set_asking_run',
    'set_question_owner',
    'delete_search_docs',
    'follow_owner',
    'delete_chat_states',
    'delete_images_of_steps',
    'free_blob_of_image',
  ].map((name) => `drop function if exists ${name} cascade`),
  'alter table event_chunks detach partition event_chunks_earlier',
  'drop table event_chunks',
  'alter table event_chunks_earlier rename to event_chunks',
  'alter table event_chunks rename constraint event_chunks_earlier_key to event_chunks_key',
];

/** Reverts the last migrations, so that the tables are as in the previous version. */
const EARLIER = [
  ...['webhook_endpoints', 'webhook_events', 'webhook_checks', 'webhook_deliveries', 'schedules', 'schedule_ticks'].map(
    (table) => `drop table ${table}`,
  ),
  ...[
    'tool_images',
    'shared_runs',
    'chat_states',
    'asked_questions',
    'transient_chats',
    'unfinished_steps',
    'agency_definitions',
  ].map((table) => `drop table ${table}`),
  ...['search_docs', 'search_waiting', 'search_state', 'people', 'audit_events'].map((table) => `drop table ${table}`),
  ...['role', 'integrations_json', 'creator_id', 'creator_json'].map(
    (column) => `alter table api_keys drop column ${column}`,
  ),
  ...['chats_waiting', 'chats_updated', 'chats_replaced', 'chats_forked'].map((name) => `drop index ${name}`),
  'alter table chats drop column updated_hour',
  ...['compacted_chunks', 'sweep_positions', 'skipped_runs'].map((table) => `drop table ${table}`),
  ...['usage_hours', 'uncounted_runs', 'usage_walk', 'active_runs', 'unsuccessful_runs'].map(
    (table) => `drop table ${table}`,
  ),
  ...USAGE_COLUMNS.map((column) => `alter table usage_days drop column ${column}`),
  ...['counted', 'tracked', 'only_step_json'].map((column) => `alter table runs drop column ${column}`),
  // A constraint of PostgreSQL belongs to the column.
  'alter table nodes drop column generation',
  'alter table node_beats drop column stats_json',
  ...[2, 3, 4].map((word) => `drop index members_by_word_${word}`),
  ...['runs_agent', 'members_newest', 'members_by_consumer_id', 'members_by_name_json'].map(
    (name) => `drop index ${name}`,
  ),
  ...['passwords', 'sessions', 'set_up_links', 'sign_in_failures'].map((table) => `drop table ${table}`),
  ...['erasures', 'pending_blobs', 'folder_bytes'].map((table) => `drop table ${table}`),
  ...['quota_bytes', 'member_quota_bytes', 'counted_bytes', 'leftovers'].map(
    (column) => `alter table integrations drop column ${column}`,
  ),
  ...['runs_consumer', 'runs_rerun_of', 'reruns'].map((name) => `drop index ${name}`),
  'drop table adjustments',
  'alter table usage_days drop column credit_millionths',
  ...['title_json', 'metadata_json', 'questions_json', 'asking_run_id'].map(
    (column) => `alter table chats drop column ${column}`,
  ),
  ...[
    'continues',
    'answers_json',
    'client_tools_json',
    'response_deleted_at',
    'extras_json',
    'first_token_ms',
    'currency',
    'rerun_of',
    'rerun_after_step',
  ].map((column) => `alter table runs drop column ${column}`),
  ...['client_tools', 'caller_instructions', 'auto_register', 'compatible_apis'].map(
    (column) => `alter table integrations drop column ${column}`,
  ),
  ...['files', 'announced_files', 'erased_blobs'].map((table) => `drop table ${table}`),
  ...['file_access', 'member_folder', 'file_bytes'].map((column) => `alter table integrations drop column ${column}`),
  ...['file_access', 'member_folder'].map((column) => `alter table runs drop column ${column}`),
  ...['loop', 'index_in_loop'].map((column) => `alter table steps drop column ${column}`),
  ...['agency_version', 'structured'].map((column) => `alter table runs drop column ${column}`),
  'alter table integrations drop column model',
  ...['newest', 'consumer'].map((name) => `drop index chats_${name}`),
  ...[
    'forked_from',
    'forked_run_id',
    'replaced_by',
    'former_chat_id',
    'former_alias',
    'transient',
    'summary_run_id',
  ].map((column) => `alter table chats drop column ${column}`),
  ...['host', 'address'].map((column) => `alter table nodes drop column ${column}`),
  'drop table commit_marks',
  'drop index attachments_without_copy',
  ...['kind', 'url', 'url_key', 'filename_json', 'form', 'pages'].map(
    (column) => `alter table attachments drop column ${column}`,
  ),
  'alter table messages drop column sandbox_files_json',
  'alter table blob_folder drop column kind',
  'alter table integrations drop column files_deleted_at',
  'drop table upload_secrets',
  'drop table upload_forms',
  `delete from kysely_migration where name >= '${FIRST_UNDONE}'`,
];
/** On SQLite, triggers need other tables and a column of `chats`. */
const EARLIER_ON_SQLITE = [
  ...['messages_unindexed', 'chats_created', 'chats_changed', 'steps_without_images'].map(
    (name) => `drop trigger ${name}`,
  ),
  ...['search_terms', 'search_index'].map((table) => `drop table ${table}`),
  ...EARLIER,
].join(';');
const APPLIED = 'select name from kysely_migration order by name';
const OTHER_PLACE = {
  name: 'StartRefused',
  message: /^S3_BUCKET is set, but this installation keeps its files on the/,
};
const OLD_FILES = {
  name: 'StartRefused',
  message:
    /^The folder \S+\/mounts has files of an earlier version, which this version cannot read; download [^\n]+\.$/,
};
const elsewhere = {
  S3_BUCKET: 'another',
  S3_ENDPOINT: 'http://127.0.0.1:9',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'x',
  AWS_SECRET_ACCESS_KEY: 'x',
};

async function toEarlier(url: string): Promise<void> {
  for (const statement of [...POSTGRES_EARLIER, ...EARLIER]) await askDatabase(url, statement);
}

async function isMigrated(url: string): Promise<boolean> {
  return (await askDatabase(url, APPLIED)).some(({ name }) => name === FIRST_UNDONE);
}

test('files in the layout of an earlier version are refused and leave it unchanged', { skip }, async (t) => {
  await using database = await freshDatabase();
  for (const url of ['', database.url]) {
    const options = { dataDir: getFolder(t), env: { DATABASE_URL: url }, limits };
    await (await startTestServer(options))[Symbol.asyncDispose]();
    using embedded = url === '' ? new DatabaseSync(join(options.dataDir, 'runwire.db')) : null;
    if (embedded === null) await toEarlier(url);
    else embedded.exec(EARLIER_ON_SQLITE);
    const applied = async () => (embedded === null ? await askDatabase(url, APPLIED) : embedded.prepare(APPLIED).all());
    const before = await applied();
    mkdirSync(join(options.dataDir, 'mounts/demo/files/reports'), { recursive: true });
    writeFileSync(join(options.dataDir, 'mounts/demo/files/reports/a.txt'), 'a');
    await assert.rejects(startTestServer(options), OLD_FILES);
    assert.deepEqual(await applied(), before);
    // Folders without files are left by uploads that were deleted.
    rmSync(join(options.dataDir, 'mounts/demo/files/reports/a.txt'));
    await using server = await startTestServer(options);
    assert.equal((await server.api.get('/readyz')).status, 200);
  }
});

test('a start with files elsewhere leaves PostgreSQL unchanged', { skip }, async (t) => {
  await using database = await freshDatabase();
  const options = { dataDir: getFolder(t), env: { DATABASE_URL: database.url }, limits };
  await (await startTestServer(options))[Symbol.asyncDispose]();
  await toEarlier(database.url);
  await assert.rejects(startTestServer({ ...options, env: { ...options.env, ...elsewhere } }), OTHER_PLACE);
  assert.equal(await isMigrated(database.url), false);
});

test('a start with files in another kind of place leaves SQLite unchanged', async (t) => {
  const options = { dataDir: getFolder(t), env: { DATABASE_URL: '' }, limits };
  await (await startTestServer(options))[Symbol.asyncDispose]();
  using database = new DatabaseSync(join(options.dataDir, 'runwire.db'));
  database.exec(EARLIER_ON_SQLITE);
  const isThere = () =>
    database
      .prepare(APPLIED)
      .all()
      .some(({ name }) => name === FIRST_UNDONE);
  await assert.rejects(startTestServer({ ...options, env: { ...options.env, ...elsewhere } }), OTHER_PLACE);
  assert.equal(isThere(), false);
  await (await startTestServer(options))[Symbol.asyncDispose]();
  assert.equal(isThere(), true);
});
