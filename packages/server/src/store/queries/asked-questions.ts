import type { Kysely } from 'kysely';
import type { ChatKey, IntegrationId, RunId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { insertInto, statement } from '../statement.ts';

/** Written again if the commit's outcome was unknown. */
export const insertAskedQuestion = insertInto(
  'asked_questions',
  ['question_id', 'chat_key', 'run_id', 'call_id_json'],
  {
    unlessExists: ['question_id'],
  },
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
