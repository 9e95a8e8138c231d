import { type SelectQueryBuilder, sql } from 'kysely';
import type { IntegrationId, RunId } from '../../domain/ids.ts';
import type { ListPosition } from '../../domain/list-cursor.ts';
import { type CancelMode, isFinished, type RunEndStatus, type RunStatus } from '../../domain/run/run-state.ts';
import type { Schema } from '../schema.ts';
import { type RowOf, statement } from '../statement.ts';
import { chatKeyById } from './chat-ids.ts';
import { integrationOfReruns, notIndexed, selectValues } from './chosen-rows.ts';
import type { JsonRows } from './file-batches.ts';
import { RUN_ORDER } from './locks.ts';
import { getPage, measureSizes, type Page } from './page.ts';
import { answerStart, messageStart } from './previews.ts';
import { soughtId } from './sought-id.ts';

const unfinished = sql<boolean>`status in ('admitted', 'running')`;

/** The first flush, step or end of a run marks it as running. */
export const markRunning = statement(
  'mark running',
  (db, p: { runId: RunId; now: number }) =>
    db
      .updateTable('runs')
      .set({ status: 'running', started_at: p.now })
      .where('run_id', '=', p.runId)
      .where(sql<boolean>`status = 'admitted'`),
  { gathers: { order: RUN_ORDER, types: { now: 'bigint' }, key: (p) => p.runId } },
);

export interface UsageColumns {
  requestCount: number;
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  byModelJson: string;
}

export const USAGE_TYPES = {
  requestCount: 'bigint',
  inputTokens: 'bigint',
  cachedTokens: 'bigint',
  outputTokens: 'bigint',
  reasoningTokens: 'bigint',
} as const;

export const usageColumns = (p: UsageColumns) => ({
  request_count: p.requestCount,
  input_tokens: p.inputTokens,
  cached_tokens: p.cachedTokens,
  output_tokens: p.outputTokens,
  reasoning_tokens: p.reasoningTokens,
  by_model_json: p.byModelJson,
});

/** Writes a run's end. It changes only an unfinished run of this attempt, so a run ends once. */
export const finishRun = statement(
  'finish run',
  (
    db,
    p: UsageColumns & {
      runId: RunId;
      attempt: number;
      nextAttempt: number;
      status: RunEndStatus;
      step: number;
      structured: number;
      onlyStepJson: string | null;
      firstTokenMs: number | null;
      lastEventId: number;
      errorCode: string | null;
      errorMessage: string | null;
      currency: string | null;
      chargedRuns: number;
      chargedTokens: number;
      chargedCredits: number;
      startedAt: number;
      now: number;
    },
  ) =>
    db
      .updateTable('runs')
      .set((eb) => ({
        status: p.status,
        attempt: p.nextAttempt,
        step: p.step,
        structured: p.structured,
        only_step_json: p.onlyStepJson,
        first_token_ms: p.firstTokenMs,
        last_event_id: p.lastEventId,
        error_code: p.errorCode,
        error_message: p.errorMessage,
        ...usageColumns(p),
        currency: p.currency,
        charged_runs: p.chargedRuns,
        charged_tokens: p.chargedTokens,
        charged_credits: p.chargedCredits,
        started_at: eb.fn.coalesce('started_at', eb.val(p.startedAt)),
        completed_at: p.now,
        tracked: 2,
        counted: sql<number>`1`,
        // Stored only for a resume, because it can contain secrets.
        user_context_json: null,
      }))
      .where('run_id', '=', p.runId)
      .where('attempt', '=', p.attempt)
      .where(unfinished),
  {
    gathers: {
      order: RUN_ORDER,
      types: {
        ...USAGE_TYPES,
        attempt: 'bigint',
        nextAttempt: 'bigint',
        step: 'bigint',
        structured: 'bigint',
        firstTokenMs: 'bigint',
        lastEventId: 'bigint',
        chargedRuns: 'bigint',
        chargedTokens: 'bigint',
        chargedCredits: 'bigint',
        startedAt: 'bigint',
        now: 'bigint',
      },
      key: (p) => p.runId,
    },
  },
);

export const advanceRun = statement(
  'advance run',
  (
    db,
    p: UsageColumns & {
      runId: RunId;
      attempt: number;
      step: number;
      leastFormat: number;
      firstTokenMs: number | null;
      startedAt: number;
    },
  ) =>
    db
      .updateTable('runs')
      .set((eb) => ({
        status: sql<'running'>`'running'`,
        step: p.step,
        journal_format: sql<number>`case when journal_format < ${p.leastFormat} then ${p.leastFormat} else journal_format end`,
        ...usageColumns(p),
        first_token_ms: p.firstTokenMs,
        started_at: eb.fn.coalesce('started_at', eb.val(p.startedAt)),
      }))
      .where('run_id', '=', p.runId)
      .where('attempt', '=', p.attempt)
      .where(unfinished),
  {
    gathers: {
      order: RUN_ORDER,
      types: {
        ...USAGE_TYPES,
        attempt: 'bigint',
        step: 'bigint',
        leastFormat: 'bigint',
        firstTokenMs: 'bigint',
        startedAt: 'bigint',
      },
      key: (p) => p.runId,
    },
  },
);

/** Locks the run for this transaction. Changes no row if another attempt owns the run. */
export const holdRun = statement('hold run', (db, p: { runId: RunId; attempt: number }) =>
  db
    .updateTable('runs')
    .set({ attempt: p.attempt })
    .where('run_id', '=', p.runId)
    .where('attempt', '=', p.attempt)
    .where(unfinished),
);

export const ownerOfRun = statement('owner of run', (db, p: { runId: string }) =>
  db
    .selectFrom('runs')
    .innerJoin('integrations', 'integrations.integration_id', 'runs.integration_id')
    .select(['integrations.owner_id', 'integrations.integration_id'])
    .where('runs.run_id', '=', soughtId<RunId>(p.runId)),
);

/** What the requests of an integration's active runs brought besides. Runs without any are left out. */
export const activeExtras = statement('extras of active runs', (db, p: { integrationId: IntegrationId }) =>
  db
    .selectFrom('active_runs')
    .innerJoin('runs', 'runs.run_id', 'active_runs.run_id')
    .select(['runs.run_id', 'runs.extras_json'])
    .where('active_runs.integration_id', '=', p.integrationId)
    .where('runs.extras_json', 'is not', null),
);

/** What the run's request brought besides, with the parent of its spans. The tools are stored until an answer if the run asked. */
export const runExtras = statement('extras of run', (db, p: { runId: RunId }) =>
  db.selectFrom('runs').select(['extras_json', 'client_tools_json']).where('run_id', '=', p.runId),
);

/** Reads which run a run continues, and its own chat. */
export const continuedRun = statement('continued run', (db, p: { runId: RunId }) =>
  db.selectFrom('runs').select(['continues', 'chat_key']).where('run_id', '=', p.runId),
);

/** How the run began: the run that it continues, what became of its questions, and the user's text. */
export const continuedQuestions = statement('continued questions', (db, p: { runId: RunId }) =>
  db
    .selectFrom('runs')
    .innerJoin('messages', (join) =>
      join.onRef('messages.chat_key', '=', 'runs.chat_key').onRef('messages.run_id', '=', 'runs.run_id'),
    )
    .select(['runs.continues', 'runs.answers_json', 'messages.content_json'])
    .where('runs.run_id', '=', p.runId)
    .where('messages.role', '=', sql<'user'>`'user'`),
);

/** Reads a run's stored end, for a writer that did not learn its commit's outcome. */
export const endOfRun = statement('end of run', (db, p: { runId: RunId }) =>
  db.selectFrom('runs').select(['status', 'attempt', 'last_event_id']).where('run_id', '=', p.runId),
);

/** T5 changes only an unfinished run. `immediate` replaces a pending `after_step`, never the reverse. */
export const requestCancel = statement('request cancel', (db, p: { runId: RunId; mode: CancelMode; now: number }) =>
  db
    .updateTable('runs')
    .set((eb) => ({
      cancel_requested_at: eb.fn.coalesce('cancel_requested_at', eb.val(p.now)),
      cancel_mode: sql<CancelMode>`case when cancel_mode = 'immediate' then 'immediate' else ${p.mode} end`,
    }))
    .where('run_id', '=', p.runId)
    .where(unfinished),
);

/** The run's questions, as long as they are open. The chat has only those of its newest run. */
export const questionsOfRun = sql<string | null>`case when chats.asking_run_id = runs.run_id
  then chats.questions_json end`.as('questions_json');

export const runColumns = [
  'runs.run_id',
  'runs.integration_id',
  'runs.chat_key',
  'runs.consumer_id',
  'runs.usage_request_id',
  'runs.status',
  'runs.agent',
  'runs.agency_version',
  'runs.continues',
  'runs.rerun_of',
  'runs.rerun_after_step',
  'runs.structured',
  'runs.attempt',
  'runs.cancel_requested_at',
  'runs.cancel_mode',
  'runs.last_event_id',
  'runs.error_code',
  'runs.error_message',
  'runs.request_count',
  'runs.input_tokens',
  'runs.cached_tokens',
  'runs.output_tokens',
  'runs.reasoning_tokens',
  'runs.by_model_json',
  'runs.currency',
  'runs.unit',
  'runs.period_start',
  'runs.charged_runs',
  'runs.charged_tokens',
  'runs.charged_credits',
  'runs.created_at',
  'runs.started_at',
  'runs.completed_at',
  'runs.compacted_at',
  'runs.first_token_ms',
  'runs.response_deleted_at',
  'chats.chat_id',
  'chats.deleted_at as chat_deleted_at',
  // Read in the same snapshot as the status. A later read could return the id of the end of a run that is still active here.
  sql<number | null>`case when runs.status in ('admitted', 'running') then (select c.last_id from event_chunks c
    where c.run_id = runs.run_id order by c.first_id desc limit 1) end`.as('last_stored_id'),
] as const;

/** The answer's text. The end of the run stored it as a message. */
export const answer = sql<string | null>`(select content_json from messages
  where messages.chat_key = chats.chat_key and messages.run_id = runs.run_id and messages.role = 'assistant')`.as(
  'answer_json',
);

export const runById = statement('run by id', (db, p: { integrationId: IntegrationId; runId: string }) =>
  db
    .selectFrom('runs')
    .innerJoin('chats', 'chats.chat_key', 'runs.chat_key')
    .select([...runColumns, questionsOfRun, answer, messageStart])
    .where('runs.run_id', '=', soughtId<RunId>(p.runId))
    .where('runs.integration_id', '=', p.integrationId),
);

/** Changes no row if the response is deleted already. */
export const deleteResponse = statement('delete response', (db, p: { runId: RunId; now: number }) =>
  db
    .updateTable('runs')
    .set({ response_deleted_at: p.now })
    .where('run_id', '=', p.runId)
    .where('response_deleted_at', 'is', null),
);

export interface RunFilter extends Page {
  readonly integrationId: IntegrationId;
  readonly chatId?: string | undefined;
  readonly consumerId?: string | undefined;
  /** The id, and what it became if its run was erased. */
  readonly usageRequestIds?: readonly string[] | undefined;
  readonly status?: RunStatus | undefined;
  readonly agent?: string | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  readonly rerunOf?: string | undefined;
  /** True: only reruns. False: no reruns. */
  readonly rerun?: boolean | undefined;
  /** Only these runs: `{id}`. */
  readonly runIds?: JsonRows | undefined;
  /** The last run that the page may show. */
  readonly oldest?: ListPosition | null;
  /** What is read of the message and the answer. The answer can be long. */
  readonly texts: 'none' | 'previews' | 'answer';
}

export type RunRow = RowOf<typeof runById>;

const NO_TEXT = sql<string | null>`null`;

const TEXT_COLUMNS = {
  none: [NO_TEXT.as('answer_json'), NO_TEXT.as('message_start_json')],
  previews: [answerStart, messageStart],
  answer: [answer, messageStart],
} as const;

type Db = Parameters<(typeof runById)['build']>[0];

/** Each run of a chat has a message. */
const runsOfChat = (db: Db, integrationId: IntegrationId, chatId: string) =>
  db
    .selectFrom('messages')
    .select('messages.run_id')
    .where('messages.chat_key', '=', chatKeyById(integrationId, chatId));

const requested = (db: Db, integrationId: IntegrationId, usageRequestIds: readonly string[]) =>
  db
    .selectFrom('runs')
    .select('run_id')
    .where('integration_id', '=', integrationId)
    .where('usage_request_id', 'in', usageRequestIds);

const activeRuns = (db: Db, integrationId: IntegrationId) =>
  db.selectFrom('active_runs').select('run_id').where('integration_id', '=', integrationId);

/** Reads runs by their ids or by the run that they rerun, or reads all reruns: all other conditions are without an index. */
function chosenRuns(
  db: Db,
  { runIds, rerunOf, integrationId, chatId, consumerId, status, agent }: Omit<RunFilter, 'texts'>,
) {
  const isChosen = runIds !== undefined || rerunOf !== undefined;
  let query = db
    .selectFrom('runs')
    .where(isChosen ? notIndexed('integration_id') : integrationOfReruns, '=', integrationId);
  if (runIds !== undefined) query = query.where('run_id', 'in', selectValues<RunId>(runIds, 'id'));
  if (!isChosen) query = query.where(sql<boolean>`rerun_of is not null`);
  // A run for an eval has its own id there.
  if (rerunOf !== undefined)
    query = query.where('rerun_of', '=', soughtId<RunId>(rerunOf)).whereRef('rerun_of', '<>', 'run_id');
  if (chatId !== undefined) query = query.where('chat_key', '=', chatKeyById(integrationId, chatId));
  if (consumerId !== undefined) query = query.where(notIndexed('consumer_id'), '=', consumerId);
  if (status !== undefined) query = query.where('status', '=', status);
  return agent === undefined ? query : query.where(notIndexed('agent'), '=', agent);
}

/**
 * Selects a list's runs by the filter that is expected to leave the fewest: ids, a request id, a chat, the active runs, a
 * member, an end other than `completed`, an agent. SQLite has no statistics. It would read all runs of the integration in
 * the list's order: with 1 000 000 runs that took 2.5 s. So the conditions are written such that only one index is
 * usable. Most runs are completed, so a list of these reads all runs of the integration in the list's order, at most
 * `READ_PER_PAGE` of them.
 */
function runsBy(db: Db, filter: Omit<RunFilter, 'texts'>) {
  const { integrationId, chatId, consumerId, status, agent, usageRequestIds, runIds, rerunOf, rerun } = filter;
  if (runIds !== undefined || rerunOf !== undefined) return chosenRuns(db, filter);
  if (rerun === true && usageRequestIds === undefined) return chosenRuns(db, filter);
  const isSelective = usageRequestIds !== undefined || chatId !== undefined || consumerId !== undefined;
  if (!isSelective && isRare(status)) return unsuccessfulRuns(db, integrationId, agent).where('status', '=', status);
  let query = db.selectFrom('runs');
  if (rerun !== undefined) query = query.where('rerun_of', rerun ? 'is not' : 'is', null);
  if (status !== undefined) query = query.where('status', '=', status);
  if (consumerId !== undefined) query = query.where('consumer_id', '=', consumerId);
  if (agent !== undefined) query = query.where(consumerId === undefined ? 'agent' : notIndexed('agent'), '=', agent);
  // Without `integration_id` no index of the integration is usable.
  if (usageRequestIds !== undefined) return query.where('run_id', 'in', requested(db, integrationId, usageRequestIds));
  // A fork also has messages by runs that were made in another chat.
  if (chatId !== undefined) {
    return query
      .where('run_id', 'in', runsOfChat(db, integrationId, chatId))
      .where('chat_key', '=', chatKeyById(integrationId, chatId));
  }
  if (status !== undefined && !isFinished(status)) return query.where('run_id', 'in', activeRuns(db, integrationId));
  return query.where('integration_id', '=', integrationId);
}

const isRare = (status: RunStatus | undefined): status is 'failed' | 'cancelled' =>
  status === 'failed' || status === 'cancelled';

/** It has the columns by which a list is filtered and ordered. */
function unsuccessfulRuns(db: Db, integrationId: IntegrationId, agent: string | undefined) {
  const query = db.selectFrom('unsuccessful_runs as runs').where('integration_id', '=', integrationId);
  const isOfAgent = sql<boolean>`exists (select 1 from runs r where r.run_id = runs.run_id and r.agent = ${agent})`;
  // The two tables have the same columns for what follows.
  return (agent === undefined ? query : query.where(isOfAgent)) as unknown as SelectQueryBuilder<
    Schema,
    'runs',
    object
  >;
}

/** True if a page of the list reads runs that it does not show, and at most `READ_PER_PAGE` runs. */
export const readsInOrder = ({ chatId, consumerId, status, agent, usageRequestIds, rerunOf }: Partial<RunFilter>) =>
  status === 'completed' && [chatId, consumerId, agent, usageRequestIds, rerunOf].every((given) => given === undefined);

/** About 25 ms on SQLite. A page ends there even if it is short, and the next page continues. */
const READ_PER_PAGE = 5000;

/**
 * Finds the last run that a page of `readsInOrder` may read. Returns no row if the list has fewer runs. It reads only an
 * index.
 */
export const lastReadRun = (filter: Omit<RunFilter, 'texts'>) => (db: Db) =>
  runsOfPage(db, { ...filter, status: undefined, limit: 1 })
    .select('created_at')
    .offset(READ_PER_PAGE - 1);

/** Selects a page's runs, newest first. */
export function runsOfPage(db: Db, filter: Omit<RunFilter, 'texts'>) {
  const { chatId, consumerId, status, agent, usageRequestIds, runIds, rerunOf, rerun, fromMs, toMs, oldest, before } =
    filter;
  let query = runsBy(db, filter).select('run_id');
  // A later page's start is the narrower bound. With both, SQLite would choose another index.
  const isInTime = toMs === undefined || (before !== null && before.createdAt < toMs);
  if (!isInTime) query = query.where('created_at', '<', toMs);
  // With two bounds SQLite would read the integration's index. So `listRuns` leaves out what is too old.
  const selective = [chatId, consumerId, status, agent, usageRequestIds, runIds, rerunOf];
  const hasIndex = rerun === true || selective.some((given) => given !== undefined);
  if (fromMs !== undefined && !hasIndex) query = query.where('created_at', '>=', fromMs);
  if (oldest !== undefined && oldest !== null) {
    query = query
      .where('created_at', '>=', oldest.createdAt)
      .where((eb) => eb.or([eb('created_at', '>', oldest.createdAt), eb('run_id', '>=', soughtId<RunId>(oldest.id))]));
  }
  return getPage(query, filter, 'created_at', 'run_id');
}

export function listRuns(filter: RunFilter) {
  return (db: Db) =>
    db
      .selectFrom('runs')
      .innerJoin('chats', 'chats.chat_key', 'runs.chat_key')
      .select([...runColumns, questionsOfRun, ...TEXT_COLUMNS[filter.texts]])
      .where('runs.run_id', 'in', runsOfPage(db, filter))
      .where('runs.created_at', '>=', filter.fromMs ?? 0)
      .orderBy('runs.created_at', 'desc')
      .orderBy('runs.run_id', 'desc');
}

const answerBytes = sql<number>`(select octet_length(content_json) from messages
  where messages.chat_key = runs.chat_key and messages.run_id = runs.run_id and messages.role = 'assistant')`;

/** The sizes of the answers of a page of runs. Previews are short. */
export const runSizes = (filter: RunFilter) => (db: Db) => {
  const size = filter.texts === 'answer' ? answerBytes : sql<number>`0`;
  return measureSizes(listRuns(filter)(db), 'runs.created_at', 'runs.run_id', size);
};
