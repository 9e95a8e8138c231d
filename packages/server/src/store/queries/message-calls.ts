import type { Kysely } from 'kysely';
import type { RunId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import type { ShownStepRow } from './steps.ts';

/** A call without its record. */
export type CallRow = Pick<ShownStepRow, 'run_id' | 'step' | 'tool' | 'status' | 'agent' | 'call_id'>;

const CALL_COLUMNS = ['run_id', 'step', 'tool', 'status', 'agent', 'call_id'] as const;

/** The finished tool calls in these runs, without their records. */
export const toolCallsOfRuns = (runIds: readonly RunId[]) => (db: Kysely<Schema>) =>
  db
    .selectFrom('steps')
    .select(CALL_COLUMNS)
    .where('run_id', 'in', [...runIds])
    .where('kind', '=', 'tool');

/** The tool calls in these runs that gave no result. */
export const unfinishedCallsOfRuns = (runIds: readonly RunId[]) => (db: Kysely<Schema>) =>
  db
    .selectFrom('unfinished_steps')
    .select([...CALL_COLUMNS, 'record_json'])
    .where('run_id', 'in', [...runIds])
    .where('kind', '=', 'tool');

/** The answers that these runs brought. The questions were asked in the runs' own chat, also if a fork shows the runs. */
export const answersOfRuns = (runIds: readonly RunId[]) => (db: Kysely<Schema>) =>
  db
    .selectFrom('asked_questions')
    .select(['question_id', 'question_json', 'answer_json', 'settled_at', 'answered_run_id'])
    .where('chat_key', 'in', (eb) =>
      eb
        .selectFrom('runs')
        .select('chat_key')
        .where('run_id', 'in', [...runIds]),
    )
    .where('answered_run_id', 'in', [...runIds])
    .where('answer_json', 'is not', null)
    .$narrowType<{ answered_run_id: RunId }>()
    .orderBy('question_id');
