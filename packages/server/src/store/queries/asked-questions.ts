import { type Insertable, type Kysely, sql } from 'kysely';
import type { ChatKey, IntegrationId, RunId } from '../../domain/ids.ts';
import type { AskedQuestionsTable } from '../question-tables.ts';
import type { Schema } from '../schema.ts';
import { pickColumns, statement } from '../statement.ts';
import { raw } from './raw.ts';

/** A question of a run that ends. Written again if the commit's outcome was unknown. */
export interface OpenedQuestion {
  readonly questionId: string;
  readonly chatKey: ChatKey;
  readonly runId: RunId;
  readonly callIdJson: string;
  readonly questionJson: string;
  readonly integrationId: IntegrationId;
  readonly now: number;
}

export const insertAskedQuestion = statement('insert asked question', (db, p: OpenedQuestion) =>
  raw<never>(
    db,
    sql<never>`insert into asked_questions (question_id, chat_key, run_id, call_id_json, question_json, owner_id, asked_at)
      select cast(${p.questionId} as text), cast(${p.chatKey} as text), cast(${p.runId} as text),
        cast(${p.callIdJson} as text), cast(${p.questionJson} as text), owner_id, cast(${p.now} as bigint)
      from integrations where integration_id = ${p.integrationId}
      on conflict (question_id) do nothing`,
  ),
);

/** What became of a question. A fork that a run makes and continues settles questions that were never listed as open. */
export const settleAskedQuestion = statement(
  'settle asked question',
  (db, p: Required<Insertable<AskedQuestionsTable>>) =>
    db
      .insertInto('asked_questions')
      .values(pickColumns(p, SETTLED_COLUMNS))
      .onConflict((c) =>
        c.column('question_id').doUpdateSet((eb) => ({
          question_json: eb.ref('excluded.question_json'),
          settled_at: eb.ref('excluded.settled_at'),
          answered_run_id: eb.ref('excluded.answered_run_id'),
          answer_json: eb.ref('excluded.answer_json'),
          remembered_tool: eb.ref('excluded.remembered_tool'),
        })),
      ),
);

const SETTLED_COLUMNS = [
  'question_id',
  'chat_key',
  'run_id',
  'call_id_json',
  'owner_id',
  'asked_at',
  'question_json',
  'settled_at',
  'answered_run_id',
  'answer_json',
  'remembered_tool',
] as const;

/** The tools that answers allowed for the chat. */
export const rememberedTools = statement('remembered tools', (db, p: { chatKey: ChatKey }) =>
  db
    .selectFrom('asked_questions')
    .select('remembered_tool')
    .where('chat_key', '=', p.chatKey)
    .where('remembered_tool', 'is not', null)
    .$narrowType<{ remembered_tool: string }>(),
);

/** The same with who allowed them and when, the oldest first. */
export const rememberedApprovals = (chatKeys: readonly ChatKey[]) => (db: Kysely<Schema>) =>
  db
    .selectFrom('asked_questions')
    .select(['chat_key', 'remembered_tool', 'answer_json', 'settled_at'])
    .where('chat_key', 'in', [...chatKeys])
    .where('remembered_tool', 'is not', null)
    .orderBy('settled_at')
    .orderBy('question_id')
    .$narrowType<{ remembered_tool: string; answer_json: string; settled_at: number }>();

/** Calls of the tool ask again in the chat. */
export const forgetTool = statement('forget tool', (db, p: { chatKey: ChatKey; tool: string }) =>
  db
    .updateTable('asked_questions')
    .set({ remembered_tool: null })
    .where('chat_key', '=', p.chatKey)
    .where('remembered_tool', '=', p.tool),
);

export const deleteAskedQuestions = statement('delete asked questions', (db, p: { chatKey: ChatKey }) =>
  db.deleteFrom('asked_questions').where('chat_key', '=', p.chatKey),
);

/** The calls about which a run asked, by a question's id in any chat. */
export const askedCalls = (runId: RunId, questionIds: readonly string[]) => (db: Kysely<Schema>) =>
  db
    .selectFrom('asked_questions')
    .select(['question_id', 'call_id_json'])
    .where('question_id', 'in', [...questionIds])
    .where('run_id', '=', runId);

/** The member whose questions are looked for. Null as id if the request names none. */
export interface AskingMember {
  readonly integrationId: IntegrationId;
  readonly consumerId: string | null;
}

/** The member's chats in which these questions are open, one row for each question. */
export const chatsAsking =
  ({ integrationId, consumerId }: AskingMember, questionIds: readonly string[]) =>
  (db: Kysely<Schema>) =>
    db
      .selectFrom('asked_questions as q')
      .innerJoin('chats as c', 'c.chat_key', 'q.chat_key')
      .select(['q.question_id', 'c.chat_id'])
      .where('q.question_id', 'in', [...questionIds])
      .whereRef('c.asking_run_id', '=', 'q.run_id')
      .where('c.integration_id', '=', integrationId)
      .where('c.consumer_id', 'is not distinct from', consumerId)
      .where('c.deleted_at', 'is', null);
