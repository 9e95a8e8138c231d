import { type Kysely, sql } from 'kysely';
import type { StoreKind } from '../store.ts';

/**
 * Forks of chats. All columns are null for other chats, and both tables have rows only for forks and for chats that asked, so
 * a run that does neither writes nothing more.
 */
export async function up(db: Kysely<unknown>, kind: StoreKind): Promise<void> {
  const text = kind === 'postgres' ? sql`text collate "C"` : sql`text`;
  const clustered = kind === 'sqlite' ? sql`without rowid` : sql``;

  for (const column of ['forked_from', 'forked_run_id', 'replaced_by', 'former_chat_id', 'former_alias']) {
    await db.schema.alterTable('chats').addColumn(column, text).execute();
  }
  await db.schema
    .createIndex('chats_replaced')
    .on('chats')
    .column('replaced_by')
    .where(sql<boolean>`replaced_by is not null`)
    .execute();

  await db.schema
    .createIndex('chats_forked')
    .on('chats')
    .column('forked_from')
    .where(sql<boolean>`forked_from is not null`)
    .execute();

  await db.schema
    .createTable('shared_runs')
    .addColumn('run_id', text, (c) => c.notNull())
    .addColumn('chat_key', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('shared_runs_key', ['run_id', 'chat_key'])
    .modifyEnd(clustered)
    .execute();
  await db.schema.createIndex('shared_runs_chat').on('shared_runs').column('chat_key').execute();

  await db.schema
    .createTable('asked_questions')
    .addColumn('question_id', text, (c) => c.notNull().primaryKey())
    .addColumn('chat_key', text, (c) => c.notNull())
    .addColumn('run_id', text, (c) => c.notNull())
    .addColumn('call_id_json', text, (c) => c.notNull())
    .modifyEnd(clustered)
    .execute();
  await db.schema.createIndex('asked_questions_chat').on('asked_questions').column('chat_key').execute();
  await addOpenQuestions(db);
}

interface AskingChat {
  readonly chat_key: string;
  readonly asking_run_id: string;
  readonly questions_json: string;
}

const PAGE = 100;

/** Questions that are open now. They are parsed here, because PostgreSQL refuses some texts of models in JSON. */
async function addOpenQuestions(db: Kysely<unknown>): Promise<void> {
  for (let after = ''; ; ) {
    const { rows } = await sql<AskingChat>`select chat_key, asking_run_id, questions_json from chats
      where asking_run_id is not null and chat_key > ${after} order by chat_key limit ${sql.lit(PAGE)}`.execute(db);
    for (const { chat_key: chatKey, asking_run_id: runId, questions_json: json } of rows) {
      const { questions } = JSON.parse(json) as { questions: { questionId: string; callId: string }[] };
      for (const { questionId, callId } of questions) {
        await sql`insert into asked_questions (question_id, chat_key, run_id, call_id_json)
          values (${questionId}, ${chatKey}, ${runId}, ${JSON.stringify(callId)})`.execute(db);
      }
      after = chatKey;
    }
    if (rows.length < PAGE) return;
  }
}
