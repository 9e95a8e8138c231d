import { sql } from 'kysely';
import type { ChatKey, IntegrationId, RunId } from '../../domain/ids.ts';
import { type RowOf, statement } from '../statement.ts';
import { isRefused } from './erasures.ts';
import type { JsonRows } from './file-batches.ts';
import { raw } from './raw.ts';
import { soughtId } from './sought-id.ts';
import { ONLY_STEP_COLUMNS, STEP_COLUMNS } from './steps.ts';
import { listColumns } from './usage-columns.ts';

/** What a rerun needs of the original run. The message is null after the chat was deleted. */
export const runToRerun = statement('run to rerun', (db, p: { integrationId: IntegrationId; runId: string }) =>
  db
    .selectFrom('runs')
    .innerJoin('chats', 'chats.chat_key', 'runs.chat_key')
    .leftJoin('messages', (join) =>
      join
        .onRef('messages.chat_key', '=', 'runs.chat_key')
        .onRef('messages.run_id', '=', 'runs.run_id')
        .on('messages.role', '=', sql<'user'>`'user'`),
    )
    .select(ONLY_STEP_COLUMNS)
    .select(['runs.chat_key', 'runs.consumer_id', 'runs.status', 'runs.agency'])
    .select(['runs.continues', 'runs.answers_json', 'runs.client_tools_json', 'runs.extras_json'])
    .select(['chats.deleted_at', 'messages.content_json', 'messages.sandbox_files_json'])
    .select(
      sql<number>`(select count(*) from attachments a where a.chat_key = runs.chat_key and a.run_id = runs.run_id)`.as(
        'attachments',
      ),
    )
    .select(
      sql<number>`(select count(*) from erasures e where e.integration_id = runs.integration_id
        and e.consumer_id = runs.consumer_id and ${isRefused})`.as('erasures'),
    )
    .where('runs.run_id', '=', soughtId<RunId>(p.runId))
    .where('runs.integration_id', '=', p.integrationId),
);

export type RunToRerun = RowOf<typeof runToRerun>;

interface RerunColumns {
  readonly runId: RunId;
  readonly rerunOf: RunId;
  readonly afterStep: number;
  /** The largest number of a step that is kept. */
  readonly step: number;
  readonly extrasJson: string | null;
}

/** Called after the run was inserted. */
export const storeRerun = statement('store rerun', (db, p: RerunColumns) =>
  db
    .updateTable('runs')
    .set({ rerun_of: p.rerunOf, rerun_after_step: p.afterStep, step: p.step, extras_json: p.extrasJson })
    .where('run_id', '=', p.runId),
);

type ReadColumn = Exclude<(typeof STEP_COLUMNS)[number], 'run_id' | 'attempt' | 'first_event_id'>;
/** A rerun does without the others: each column costs 10 µs for 100 steps. */
const isRead = (column: string): column is ReadColumn => !['run_id', 'attempt', 'first_event_id'].includes(column);
const READ_COLUMNS = STEP_COLUMNS.filter(isRead);

/** Reads the journal of an original run in the order of its primary key: to sort the rows here costs 40 µs for 100 steps. */
export const journalOfOriginal = statement('journal of original', (db, p: { runId: RunId }) =>
  db.selectFrom('steps').select(READ_COLUMNS).where('run_id', '=', p.runId).orderBy('step'),
);

const OWN_COLUMNS = ['run_id', 'attempt', 'first_event_id', 'last_event_id'];
const keptColumns = listColumns(STEP_COLUMNS.filter((column) => !OWN_COLUMNS.includes(column)));

/** Copies the steps that a rerun keeps, unless an earlier try has. They have the event id of `meta`. `steps`: `{step}`. */
export const copySteps = statement('copy steps', (db, p: { from: RunId; runId: RunId; steps: JsonRows }) =>
  raw<never>(
    db,
    sql<never>`insert into steps (run_id, attempt, first_event_id, last_event_id, ${keptColumns})
      select cast(${p.runId} as text), 1, 1, 1, ${keptColumns} from steps
      where run_id = ${p.from} and step in (select cast(j.value ->> 'step' as bigint) from json_each(${p.steps}) as j)
      on conflict (run_id, step) do nothing`,
  ),
);

/** Locks the run's row. It changes no row if this attempt no longer executes the run. */
export const lockAttempt = statement('lock attempt', (db, p: { runId: RunId; attempt: number }) =>
  db
    .updateTable('runs')
    .set((eb) => ({ step: eb.ref('step') }))
    .where('run_id', '=', p.runId)
    .where('attempt', '=', p.attempt)
    .where(sql<boolean>`status in ('admitted', 'running')`),
);

/** When the chat of an original run was deleted, and a chat that shares the run. Both are null if they do not exist. */
export const chatOfOriginal = statement('chat of original', (db, p: { runId: RunId }) =>
  db
    .selectFrom('runs')
    .innerJoin('chats', 'chats.chat_key', 'runs.chat_key')
    .leftJoin('shared_runs', 'shared_runs.run_id', 'runs.run_id')
    .select(['chats.deleted_at', 'shared_runs.chat_key as sharing_chat_key'])
    .where('runs.run_id', '=', p.runId)
    .limit(1),
);

/** Copies the attachments of a run's message to the message of a rerun. */
export const copyAttachmentsOfRun = statement(
  'copy attachments of run',
  (db, p: { chatKey: ChatKey; from: RunId; forkKey: ChatKey; runId: RunId }) =>
    raw<never>(
      db,
      sql<never>`insert into attachments (chat_key, run_id, position, kind, url, url_key, filename_json, detail, form,
          media_type, pages, size_bytes, blob_key)
        select cast(${p.forkKey} as text), cast(${p.runId} as text), position, kind, url, url_key, filename_json, detail, form,
          media_type, pages, size_bytes, blob_key
        from attachments where chat_key = ${p.chatKey} and run_id = ${p.from}`,
    ),
);
