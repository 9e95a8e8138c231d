import { jsonWith } from '../domain/list-page.ts';
import { type ModelUsage, usageFromRow, usageJson } from '../domain/model/usage.ts';
import { parseQuestions, questionJson } from '../domain/question/question-json.ts';
import { isFinished } from '../domain/run/run-state.ts';
import { iso } from '../domain/time.ts';
import type { RunRow } from '../store/queries/runs.ts';

const errorJson = (row: RunRow) =>
  row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' };

/** A run's `usage` is null until it has ended. */
const endUsage = (row: RunRow) => (isFinished(row.status) ? usageJson(usageFromRow(row)) : null);

const toAnswer = (row: RunRow) => (row.answer_json === null ? null : (JSON.parse(row.answer_json) as string));

const listPending = (row: RunRow) => parseQuestions(row.questions_json)?.questions.map(questionJson) ?? [];

export function runJson(row: RunRow, lastEventId: number) {
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
    continues: row.continues,
    pending: listPending(row),
    // The last members, as in a list.
    output: row.structured === 1 ? (JSON.parse(toAnswer(row) ?? 'null') as unknown) : null,
    message: toAnswer(row),
  };
}

/** Returns the JSON of a run in a list. The answer can be long, so it is not parsed. */
export function runItem(row: RunRow, lastEventId: number): string {
  const { message: _, output: __, ...run } = runJson({ ...row, answer_json: null }, lastEventId);
  const output = row.structured === 1 ? (toAnswer(row) ?? 'null') : 'null';
  return jsonWith(run, 'output', `${output},"message":${row.answer_json ?? 'null'}`);
}

/** `run` inside a chat status. */
export function statusRunJson(row: RunRow, lastEventId: number) {
  const {
    apiIntegrationId: _a,
    chatId: _c,
    chatDeleted: _d,
    consumerId: _m,
    cancelRequested: _r,
    agencyVersion: _v,
    continues: _n,
    pending: _p,
    output: _o,
    firstTokenMs: _t,
    ...rest
  } = runJson(row, lastEventId);
  return rest;
}

function charged(row: RunRow) {
  if (row.unit === null || !isFinished(row.status)) return null;
  const amounts = { runs: row.charged_runs, tokens: row.charged_tokens, credits: row.charged_credits };
  return { unit: row.unit, amount: amounts[row.unit] ?? 0 };
}

/** The usage record (`contract-6-usage-record-once`): the run's own row, so there is exactly one from admission on. */
export function usageRecordJson(row: RunRow) {
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
    byModel: (JSON.parse(row.by_model_json) as ModelUsage[]).map((one) => ({
      model: one.model,
      input_tokens: one.inputTokens,
      cached_tokens: one.cachedTokens,
      output_tokens: one.outputTokens,
    })),
    charged: charged(row),
    firstTokenMs: row.first_token_ms,
    periodStart: iso(row.period_start),
    startedAt: iso(row.started_at),
    completedAt: iso(row.completed_at),
  };
}
