import { type Kysely, sql } from 'kysely';
import type { IntegrationId, OwnerId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { getPage, measureSizes, type Page } from './page.ts';

/** `all` also lists questions that a new message left without an answer. */
export type QuestionState = 'open' | 'answered' | 'all';

/** `integrations` is null for all of the owner. */
export interface QuestionOwner {
  readonly ownerId: OwnerId;
  readonly integrations: readonly string[] | null;
}

/** True for a question `q` that its chat `c` confirms. A node of the version before settles a question without writing its row. */
export const isOpen = sql<boolean>`(q.settled_at is null and c.asking_run_id = q.run_id and c.replaced_by is null)`;

/** The questions of all integrations of the owner. A question of an earlier version is listed as long as its chat has it. */
export const listQuestions = (owner: QuestionOwner, state: QuestionState, page: Page) => (db: Kysely<Schema>) => {
  const all = db
    .selectFrom('asked_questions as q')
    .innerJoin('chats as c', 'c.chat_key', 'q.chat_key')
    .innerJoin('integrations as i', 'i.integration_id', 'c.integration_id')
    .select(['q.question_id', 'q.run_id', 'q.question_json', 'q.answer_json', 'q.settled_at'])
    .select(['c.chat_id', 'c.integration_id', 'c.consumer_id'])
    .select([
      sql<number>`q.asked_at`.as('asked_at'),
      sql<number>`case when ${isOpen} then 1 else 0 end`.as('is_open'),
      sql<string | null>`case when q.question_json is null then c.questions_json end`.as('chat_questions_json'),
    ])
    .where('q.owner_id', '=', owner.ownerId)
    .$if(owner.integrations !== null, (questions) =>
      questions.where('c.integration_id', 'in', owner.integrations as readonly IntegrationId[]),
    )
    .where(sql<boolean>`(q.question_json is not null or ${isOpen})`)
    .where('c.deleted_at', 'is', null)
    .where('i.deleted_at', 'is', null)
    // As in the index.
    .$if(state === 'open', (questions) => questions.where('q.settled_at', 'is', null).where(isOpen))
    .$if(state === 'answered', (questions) => questions.where('q.answer_json', 'is not', null));
  return getPage(all, page, 'q.asked_at', 'q.question_id');
};

export type QuestionRow = Awaited<ReturnType<ReturnType<ReturnType<typeof listQuestions>>['execute']>>[number];

export const questionSizes = (owner: QuestionOwner, state: QuestionState, page: Page) => (db: Kysely<Schema>) =>
  measureSizes(
    listQuestions(owner, state, page)(db),
    'q.asked_at',
    'q.question_id',
    sql`octet_length(coalesce(q.question_json, c.questions_json)) + coalesce(octet_length(q.answer_json), 0)`,
  );
