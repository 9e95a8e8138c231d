import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

const UNFINISHED = sql<boolean>`status in ('admitted', 'running')`;

/**
 * If the primary key is no integer, SQLite stores a table and a separate index. With `without rowid` it stores only one
 * of them: a run touches a third fewer pages, and every touched page is written to the log.
 */
const clustered = (kind: StoreKind) => (kind === 'sqlite' ? sql`without rowid` : sql``);

export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  await db.schema
    .createTable('installation')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('accounts_version', 'bigint', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .execute();

  await db.schema
    .createTable('nodes')
    .addColumn('node_id', 'text', (c) => c.primaryKey())
    .addColumn('boot', 'text', (c) => c.notNull())
    .addColumn('dead', 'integer', (c) => c.notNull())
    .addColumn('version', 'text', (c) => c.notNull())
    .addColumn('started_at', 'bigint', (c) => c.notNull())
    .modifyEnd(clustered(kind))
    .execute();

  await db.schema
    .createTable('node_beats')
    .addColumn('node_id', 'text', (c) => c.primaryKey())
    .addColumn('beat', 'bigint', (c) => c.notNull())
    .modifyEnd(clustered(kind))
    .execute();

  await db.schema
    .createTable('owners')
    .addColumn('owner_id', 'text', (c) => c.primaryKey())
    .addColumn('email', 'text', (c) => c.unique())
    .addColumn('name_json', 'text')
    .addColumn('administrator', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .modifyEnd(clustered(kind))
    .execute();

  await db.schema
    .createTable('api_keys')
    .addColumn('key_id', 'text', (c) => c.primaryKey())
    .addColumn('owner_id', 'text', (c) => c.notNull())
    .addColumn('name_json', 'text', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('last_used_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .modifyEnd(clustered(kind))
    .execute();
  await db.schema.createIndex('api_keys_owner').on('api_keys').columns(['owner_id', 'key_id']).execute();

  await db.schema
    .createTable('integrations')
    .addColumn('integration_id', 'text', (c) => c.primaryKey())
    .addColumn('sort_key', 'text', (c) => c.notNull())
    .addColumn('owner_id', 'text', (c) => c.notNull())
    .addColumn('name_json', 'text', (c) => c.notNull())
    .addColumn('agency', 'text', (c) => c.notNull())
    .addColumn('default_agent', 'text', (c) => c.notNull())
    .addColumn('text_only', 'integer', (c) => c.notNull())
    .addColumn('allowance_unit', 'text')
    .addColumn('allowance_limit', 'bigint')
    .addColumn('allowance_period', 'text')
    .addColumn('on_disconnect', 'text', (c) => c.notNull())
    .addColumn('max_run_seconds', 'integer', (c) => c.notNull())
    .addColumn('max_runs_per_member', 'integer')
    .addColumn('keep_attachments', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .addColumn('deleted_at', 'bigint')
    .modifyEnd(clustered(kind))
    .execute();
  await db.schema
    .createIndex('integrations_owner')
    .on('integrations')
    .columns(['owner_id', 'created_at', 'sort_key'])
    .execute();

  await db.schema
    .createTable('members')
    .addColumn('integration_id', 'text', (c) => c.notNull())
    .addColumn('consumer_id', 'text', (c) => c.notNull())
    .addColumn('sort_key', 'text', (c) => c.notNull())
    .addColumn('name_json', 'text')
    .addColumn('active', 'integer', (c) => c.notNull())
    .addColumn('metadata_json', 'text', (c) => c.notNull())
    .addColumn('own_limit', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('members_key', ['integration_id', 'consumer_id'])
    .modifyEnd(clustered(kind))
    .execute();

  await db.schema
    .createTable('chats')
    .addColumn('chat_key', 'text', (c) => c.primaryKey())
    .addColumn('integration_id', 'text', (c) => c.notNull())
    .addColumn('chat_id', 'text', (c) => c.notNull())
    .addColumn('alias', 'text')
    .addColumn('consumer_id', 'text')
    .addColumn('num_messages', 'integer', (c) => c.notNull())
    .addColumn('text_bytes', 'bigint', (c) => c.notNull())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .addColumn('deleted_at', 'bigint')
    .modifyEnd(clustered(kind))
    .execute();
  await db.schema
    .createIndex('chats_id')
    .unique()
    .on('chats')
    .columns(['integration_id', 'chat_id'])
    .where(sql<boolean>`deleted_at is null`)
    .execute();
  await db.schema
    .createIndex('chats_alias')
    .unique()
    .on('chats')
    .columns(['integration_id', 'alias'])
    .where(sql<boolean>`deleted_at is null and alias is not null`)
    .execute();

  await db.schema
    .createTable('messages')
    .addColumn('message_id', 'text', (c) => c.notNull())
    .addColumn('chat_key', 'text', (c) => c.notNull())
    .addColumn('position', 'integer', (c) => c.notNull())
    .addColumn('run_id', 'text', (c) => c.notNull())
    .addColumn('role', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('agent', 'text', (c) => c.notNull())
    .addColumn('content_json', 'text', (c) => c.notNull())
    .addColumn('error_code', 'text')
    .addColumn('error_message', 'text')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('messages_key', ['chat_key', 'position'])
    .modifyEnd(clustered(kind))
    .execute();

  await db.schema
    .createTable('runs')
    .addColumn('run_id', 'text', (c) => c.primaryKey())
    .addColumn('integration_id', 'text', (c) => c.notNull())
    .addColumn('chat_key', 'text', (c) => c.notNull())
    .addColumn('consumer_id', 'text')
    .addColumn('usage_request_id', 'text')
    .addColumn('fingerprint', 'text')
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('agency', 'text', (c) => c.notNull())
    .addColumn('agent', 'text', (c) => c.notNull())
    .addColumn('node_id', 'text', (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('crashes', 'integer', (c) => c.notNull())
    .addColumn('step', 'integer', (c) => c.notNull())
    .addColumn('journal_format', 'integer', (c) => c.notNull())
    .addColumn('held', 'bigint', (c) => c.notNull())
    .addColumn('unit', 'text')
    .addColumn('day', 'integer', (c) => c.notNull())
    .addColumn('period', 'text')
    .addColumn('period_start', 'bigint')
    .addColumn('user_context_json', 'text')
    .addColumn('cancel_requested_at', 'bigint')
    .addColumn('cancel_mode', 'text')
    .addColumn('last_event_id', 'bigint')
    .addColumn('error_code', 'text')
    .addColumn('error_message', 'text')
    .addColumn('request_count', 'integer', (c) => c.notNull())
    .addColumn('input_tokens', 'bigint', (c) => c.notNull())
    .addColumn('cached_tokens', 'bigint', (c) => c.notNull())
    .addColumn('output_tokens', 'bigint', (c) => c.notNull())
    .addColumn('reasoning_tokens', 'bigint', (c) => c.notNull())
    .addColumn('by_model_json', 'text', (c) => c.notNull())
    .addColumn('charged_runs', 'integer')
    .addColumn('charged_tokens', 'bigint')
    .addColumn('charged_credits', 'bigint')
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('started_at', 'bigint')
    .addColumn('completed_at', 'bigint')
    .modifyEnd(clustered(kind))
    .execute();
  // Two indexes that admission relies on: idempotency, and one active run per chat.
  await db.schema
    .createIndex('runs_usage_request')
    .unique()
    .on('runs')
    .columns(['integration_id', 'usage_request_id'])
    .where(sql<boolean>`usage_request_id is not null`)
    .execute();
  await db.schema.createIndex('runs_active_chat').unique().on('runs').columns(['chat_key']).where(UNFINISHED).execute();
  await db.schema
    .createIndex('runs_active_member')
    .on('runs')
    .columns(['integration_id', 'consumer_id'])
    .where(UNFINISHED)
    .execute();
  await db.schema
    .createIndex('runs_integration')
    .on('runs')
    .columns(['integration_id', 'created_at', 'run_id'])
    .execute();

  await db.schema
    .createTable('usage_days')
    .addColumn('integration_id', 'text', (c) => c.notNull())
    .addColumn('consumer_id', 'text', (c) => c.notNull())
    .addColumn('day', 'integer', (c) => c.notNull())
    .addColumn('runs', 'bigint', (c) => c.notNull())
    .addColumn('tokens', 'bigint', (c) => c.notNull())
    .addColumn('credits', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('usage_days_key', ['integration_id', 'consumer_id', 'day'])
    .modifyEnd(clustered(kind))
    .execute();

  await db.schema
    .createTable('event_chunks')
    .addColumn('run_id', 'text', (c) => c.notNull())
    .addColumn('first_id', 'bigint', (c) => c.notNull())
    .addColumn('last_id', 'bigint', (c) => c.notNull())
    .addColumn('data', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('event_chunks_key', ['run_id', 'first_id'])
    .modifyEnd(clustered(kind))
    .execute();

  await db.schema
    .createTable('steps')
    .addColumn('run_id', 'text', (c) => c.notNull())
    .addColumn('step', 'integer', (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('agent', 'text', (c) => c.notNull())
    .addColumn('caller_agent', 'text')
    .addColumn('model', 'text')
    .addColumn('tool', 'text')
    .addColumn('call_id', 'text')
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('first_event_id', 'bigint', (c) => c.notNull())
    .addColumn('last_event_id', 'bigint', (c) => c.notNull())
    .addColumn('record_json', 'text', (c) => c.notNull())
    .addColumn('started_at', 'bigint', (c) => c.notNull())
    .addColumn('completed_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('steps_key', ['run_id', 'step'])
    .modifyEnd(clustered(kind))
    .execute();
}
