import { sql } from 'kysely';
import type { RunId } from '../../domain/ids.ts';
import { insertInto, type RowOf, statement } from '../statement.ts';
import { STEP_ORDER } from './locks.ts';

/** A step is written again if its first commit's outcome was unknown. */
export const insertStep = insertInto(
  'steps',
  [
    'run_id',
    'step',
    'attempt',
    'kind',
    'loop',
    'index_in_loop',
    'agent',
    'caller_agent',
    'model',
    'tool',
    'call_id',
    'status',
    'first_event_id',
    'last_event_id',
    'record_json',
    'started_at',
    'completed_at',
  ],
  {
    unlessExists: ['run_id', 'step'],
    gathers: {
      order: STEP_ORDER,
      types: {
        step: 'bigint',
        attempt: 'bigint',
        index_in_loop: 'bigint',
        first_event_id: 'bigint',
        last_event_id: 'bigint',
        started_at: 'bigint',
        completed_at: 'bigint',
      },
    },
  },
);

/** Finds a step that is stored, for a writer that did not learn its commit's outcome. */
export const stepOfRun = statement('step of run', (db, p: { runId: RunId; step: number }) =>
  db.selectFrom('steps').select('step').where('run_id', '=', p.runId).where('step', '=', p.step),
);

/** The sizes of the steps that `stepsBefore` reads. A call that begins is shown by its outcome. */
export const stepSizes = statement('step sizes', (db, p: { runId: RunId; before: number; limit: number }) =>
  db
    .selectFrom('steps')
    .select(['step as created_at', sql<string>`''`.as('id'), sql<number>`octet_length(record_json)`.as('bytes')])
    .where('run_id', '=', p.runId)
    .where('kind', '<>', sql<'begin'>`'begin'`)
    .where('step', '<', sql<number>`cast(${p.before} as bigint)`)
    .orderBy('step', 'desc')
    .limit(p.limit),
);

export const stepsBefore = statement('steps before', (db, p: { runId: RunId; before: number; limit: number }) =>
  db
    .selectFrom('steps')
    .selectAll()
    .where('run_id', '=', p.runId)
    .where('kind', '<>', sql<'begin'>`'begin'`)
    .where('step', '<', sql<number>`cast(${p.before} as bigint)`)
    .orderBy('step', 'desc')
    .limit(p.limit),
);

/** Reads what a run's row has of its only step. */
export const onlyStepOfRun = statement('only step of run', (db, p: { runId: RunId }) =>
  db
    .selectFrom('runs')
    .select(['run_id', 'agent', 'attempt', 'request_count', 'input_tokens', 'cached_tokens', 'output_tokens'])
    .select(['reasoning_tokens', 'only_step_json', 'by_model_json', 'currency'])
    .where('run_id', '=', p.runId),
);

export type OnlyStepRow = RowOf<typeof onlyStepOfRun>;

export type StepRow = RowOf<typeof stepsBefore>;
