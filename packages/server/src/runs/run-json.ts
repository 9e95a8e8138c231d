import { jsonWith } from '../domain/list-page.ts';
import { costJson, sumCosts } from '../domain/model/cost.ts';
import { usageFromRow, usageJson } from '../domain/model/usage.ts';
import { previewText } from '../domain/preview.ts';
import { parseQuestions, questionJson } from '../domain/question/question-json.ts';
import { isFinished } from '../domain/run/run-state.ts';
import { iso } from '../domain/time.ts';
import type { RunRow } from '../store/queries/runs.ts';
import type { RunDetails } from './run-details.ts';
import { readModels } from './stored-models.ts';

export interface ListedRun {
  readonly row: RunRow;
  readonly details: RunDetails | undefined;
}

/** A chat status has no previews. */
export type StatusRow = Omit<RunRow, 'message_start_json'>;

const errorJson = (row: StatusRow) =>
  row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' };

/** A run's `usage` is null until it has ended. */
const endUsage = (row: StatusRow) => (isFinished(row.status) ? usageJson(usageFromRow(row)) : null);

/** Fixed when the run ends. */
const toCost = (row: StatusRow) =>
  costJson(row.currency === null ? null : sumCosts(readModels(row.by_model_json), row.currency));

const toAnswer = (row: StatusRow) => (row.answer_json === null ? null : (JSON.parse(row.answer_json) as string));

const listPending = (row: StatusRow) => parseQuestions(row.questions_json)?.questions.map(questionJson) ?? [];

const NO_FACTS = {
  agents: null,
  models: null,
  waiting: null,
  continuedBy: null,
  messagePreview: null,
  answerPreview: null,
  durationMs: null,
};

/** `details` is undefined after the chat was deleted: then everything is null. */
function shortFacts(row: RunRow, details: RunDetails | undefined) {
  if (details === undefined) return NO_FACTS;
  return {
    agents: details.agents,
    models: readModels(row.by_model_json).map(({ model }) => model),
    waiting: row.questions_json !== null,
    continuedBy: details.continuedBy,
    messagePreview: previewText(row.message_start_json),
    answerPreview: previewText(row.answer_json),
    durationMs: row.completed_at === null ? null : Math.max(0, row.completed_at - row.created_at),
  };
}

export function runJson(row: RunRow, details: RunDetails | undefined, lastEventId: number) {
  return {
    ...shortRunJson(row, lastEventId),
    ...shortFacts(row, details),
    // The last members, as in a list.
    output: row.structured === 1 ? (JSON.parse(toAnswer(row) ?? 'null') as unknown) : null,
    message: toAnswer(row),
  };
}

/** A run without its texts. */
export function shortRunJson(row: StatusRow, lastEventId: number) {
  return {
    runId: row.run_id,
    apiIntegrationId: row.integration_id,
    chatId: row.chat_id,
    chatDeleted: row.chat_deleted_at !== null,
    consumerId: row.consumer_id,
    usageRequestId: row.usage_request_id,
    status: row.status,
    cancelRequested: row.cancel_mode,
    agent: row.agent,
    agencyVersion: row.agency_version,
    attempt: row.attempt,
    lastEventId,
    createdAt: iso(row.created_at),
    startedAt: iso(row.started_at),
    completedAt: iso(row.completed_at),
    error: errorJson(row),
    usage: endUsage(row),
    firstTokenMs: row.first_token_ms,
    // The usage record keeps it.
    cost: row.chat_deleted_at === null ? toCost(row) : null,
    continues: row.continues,
    rerunOf:
      row.rerun_of === null || row.rerun_of === row.run_id
        ? null
        : { runId: row.rerun_of, afterStep: row.rerun_after_step ?? 0 },
    pending: listPending(row),
  };
}

/** Returns the JSON of a run in a list. The answer can be long, so it is not parsed. */
export function runItem({ row, details }: ListedRun, lastEventId: number, hasTexts: boolean): string {
  const run = { ...shortRunJson(row, lastEventId), ...shortFacts(row, details) };
  if (!hasTexts) return JSON.stringify(run);
  const output = row.structured === 1 ? (toAnswer(row) ?? 'null') : 'null';
  return jsonWith(run, 'output', `${output},"message":${row.answer_json ?? 'null'}`);
}

/** `run` inside a chat status. */
export function statusRunJson(row: StatusRow, lastEventId: number) {
  const {
    apiIntegrationId: _a,
    chatId: _c,
    chatDeleted: _d,
    consumerId: _m,
    cancelRequested: _r,
    agencyVersion: _v,
    continues: _n,
    rerunOf: _o,
    pending: _p,
    firstTokenMs: _t,
    cost: _$,
    ...rest
  } = shortRunJson(row, lastEventId);
  return { ...rest, message: toAnswer(row) };
}

function charged(row: StatusRow) {
  if (row.unit === null || !isFinished(row.status)) return null;
  const amounts = { runs: row.charged_runs, tokens: row.charged_tokens, credits: row.charged_credits };
  return { unit: row.unit, amount: amounts[row.unit] ?? 0 };
}

/** The usage record (`contract-6-usage-record-once`): the run's own row, so there is exactly one from admission on. */
export function usageRecordJson(row: StatusRow) {
  return {
    kind: 'run' as const,
    usageRequestId: row.usage_request_id,
    consumerId: row.consumer_id,
    chatId: row.chat_id,
    runId: row.run_id,
    agent: row.agent,
    // A usage record has no status `admitted`.
    status: isFinished(row.status) ? row.status : 'running',
    usage: usageJson(usageFromRow(row)),
    byModel: readModels(row.by_model_json).map((one) => ({
      model: one.model,
      input_tokens: one.inputTokens,
      cached_tokens: one.cachedTokens,
      output_tokens: one.outputTokens,
    })),
    charged: charged(row),
    rerun: row.rerun_of !== null,
    firstTokenMs: row.first_token_ms,
    cost: toCost(row),
    periodStart: iso(row.period_start),
    startedAt: iso(row.started_at),
    completedAt: iso(row.completed_at),
  };
}
