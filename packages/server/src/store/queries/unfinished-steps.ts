import { type Kysely, sql } from 'kysely';
import type { RunId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { insertInto, statement } from '../statement.ts';
import { STEP_COLUMNS } from './steps.ts';

/** A call is written again if its first commit's outcome was unknown. */
export const insertUnfinishedStep = insertInto('unfinished_steps', STEP_COLUMNS, { unlessExists: ['run_id', 'step'] });

/** What happened to the questions with which runs ended. */
export const settledQuestions = (questionIds: readonly string[]) => (db: Kysely<Schema>) =>
  db
    .selectFrom('asked_questions as q')
    .innerJoin('chats as c', 'c.chat_key', 'q.chat_key')
    .select(['q.question_id', 'q.run_id', 'q.settled_at', 'q.answered_run_id', 'q.answer_json', 'c.asking_run_id'])
    .where('q.question_id', 'in', [...questionIds]);

/** The agents in a run's steps, in the order in which they began. */
export const agentsOfRuns = (runIds: readonly RunId[]) => (db: Kysely<Schema>) => {
  const steps = db
    .selectFrom('steps')
    .select(['run_id', 'agent', 'step'])
    .where('run_id', 'in', [...runIds]);
  const unfinished = db
    .selectFrom('unfinished_steps')
    .select(['run_id', 'agent', 'step'])
    .where('run_id', 'in', [...runIds]);
  return db
    .selectFrom(steps.unionAll(unfinished).as('s'))
    .select(['s.run_id', 's.agent'])
    .groupBy(['s.run_id', 's.agent'])
    .orderBy((eb) => eb.fn.min('s.step'));
};

/** The runs that settled these runs' questions. */
export const continuingRuns = (runIds: readonly RunId[]) => (db: Kysely<Schema>) =>
  db
    .selectFrom('runs as asking')
    .innerJoin('messages as m', (join) =>
      join.onRef('m.chat_key', '=', 'asking.chat_key').onRef('m.run_id', '=', 'asking.run_id'),
    )
    .innerJoin('messages as n', (join) =>
      join.onRef('n.chat_key', '=', 'm.chat_key').on('n.position', '=', sql<number>`m.position + 2`),
    )
    .innerJoin('runs as next', (join) =>
      join.onRef('next.run_id', '=', 'n.run_id').onRef('next.continues', '=', 'asking.run_id'),
    )
    .select(['asking.run_id', 'next.run_id as continued_by'])
    .where('asking.run_id', 'in', [...runIds])
    .where('m.role', '=', 'user')
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('asked_questions as q')
          .select('q.question_id')
          .whereRef('q.chat_key', '=', 'asking.chat_key')
          .whereRef('q.run_id', '=', 'asking.run_id'),
      ),
    );

export const unfinishedStep = statement('unfinished step', (db, p: { runId: RunId; step: number }) =>
  db.selectFrom('unfinished_steps').selectAll().where('run_id', '=', p.runId).where('step', '=', p.step),
);
