import { type Kysely, type Selectable, sql } from 'kysely';
import type { RunId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { insertInto, type RowOf, statement } from '../statement.ts';
import type { StepsTable, UnfinishedStepsTable } from '../step-tables.ts';
import { STEP_ORDER } from './locks.ts';

/** The columns that both tables have. */
export const STEP_COLUMNS = [
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
] as const;

export type StepRow = Selectable<StepsTable>;
/** A journal row, or a call that gave no result. */
export type ShownStepRow = StepRow | Selectable<UnfinishedStepsTable>;

/** A step is written again if its first commit's outcome was unknown. */
export const insertStep = insertInto('steps', STEP_COLUMNS, {
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
});

/** Finds a step that is stored, for a writer that did not learn its commit's outcome. */
export const stepOfRun = statement('step of run', (db, p: { runId: RunId; step: number }) =>
  db.selectFrom('steps').select('step').where('run_id', '=', p.runId).where('step', '=', p.step),
);

interface StepPage {
  readonly runId: RunId;
  readonly before: number;
  readonly limit: number;
}

/** A journal page. A call that begins is shown by its outcome. */
const journalPage = (db: Kysely<Schema>, { runId, before }: StepPage) =>
  db
    .selectFrom('steps')
    .where('run_id', '=', runId)
    .where('kind', '<>', sql<'begin'>`'begin'`)
    .where('step', '<', sql<number>`cast(${before} as bigint)`);

/** The calls without a result on the same page. */
const unfinishedPage = (db: Kysely<Schema>, { runId, before }: StepPage) =>
  db
    .selectFrom('unfinished_steps')
    .where('run_id', '=', runId)
    .where('step', '<', sql<number>`cast(${before} as bigint)`);

/** Without the records, which can be large. */
const SIZE_COLUMNS = [
  'step as created_at',
  sql<string>`''`.as('id'),
  sql<number>`octet_length(record_json)`.as('bytes'),
] as const;

/** The sizes of the steps that `stepsBefore` reads. */
export const stepSizes = statement('step sizes', (db, p: StepPage) =>
  journalPage(db, p)
    .select(SIZE_COLUMNS)
    .unionAll(unfinishedPage(db, p).select(SIZE_COLUMNS))
    .orderBy('created_at', 'desc')
    .limit(p.limit),
);

/** The steps before a number, with the calls that gave no result. */
export const stepsBefore = statement('steps before', (db, p: StepPage) =>
  journalPage(db, p)
    .select(STEP_COLUMNS)
    .$castTo<ShownStepRow>()
    .unionAll(unfinishedPage(db, p).select(STEP_COLUMNS).$castTo<ShownStepRow>())
    .orderBy('step', 'desc')
    .limit(p.limit),
);

/** What a run's row has of its only step. */
export const ONLY_STEP_COLUMNS = [
  ...(['runs.run_id', 'runs.agent', 'runs.attempt', 'runs.request_count', 'runs.input_tokens'] as const),
  ...(['runs.cached_tokens', 'runs.output_tokens', 'runs.reasoning_tokens', 'runs.only_step_json'] as const),
  ...(['runs.by_model_json', 'runs.currency'] as const),
] as const;

export const onlyStepOfRun = statement('only step of run', (db, p: { runId: RunId }) =>
  db.selectFrom('runs').select(ONLY_STEP_COLUMNS).where('run_id', '=', p.runId),
);

export type OnlyStepRow = RowOf<typeof onlyStepOfRun>;
