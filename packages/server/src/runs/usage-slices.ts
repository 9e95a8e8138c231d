import { addUsage, usageFromRow } from '../domain/model/usage.ts';
import { addMeasures, type Measures, measureRun } from '../domain/run/measures.ts';
import { isFinished, type RunEndStatus } from '../domain/run/run-state.ts';
import type { PageStart } from '../store/queries/page.ts';
import type { SumRow } from '../store/queries/rollup-sums.ts';
import { type UsageSlice, usageOfRuns } from '../store/queries/usage.ts';
import type { Reads } from '../store/store.ts';
import { readModels } from './stored-models.ts';

/** A run, as a summary reads it. */
export type RunOfSlice = Extract<SumRow, { by_model_json: string }>;

/** Reads a slice. `last` is its oldest run, or null if no runs remain. */
export async function readSlice(
  reads: Reads,
  slice: UsageSlice,
): Promise<{ readonly runs: readonly RunOfSlice[]; readonly last: PageStart | null }> {
  const runs = await reads.query(usageOfRuns(slice));
  const counted = runs.filter(({ rerun_of: rerunOf }) => (rerunOf !== null) === slice.rerun);
  const oldest = runs.at(-1);
  const isLast = oldest === undefined || runs.length < slice.maxRuns;
  return { runs: counted, last: isLast ? null : { createdAt: Number(oldest.created_at), id: oldest.newest_run_id } };
}

export const hasEnded = ({ status }: RunOfSlice): boolean => isFinished(status);

/** An ended run's values. Its models are read only if they are needed. */
export function toMeasuredRun(run: RunOfSlice) {
  return {
    status: run.status as RunEndStatus,
    durationMs: Number(run.completed_at) - Number(run.created_at),
    firstTokenMs: run.first_token_ms === null ? null : Number(run.first_token_ms),
    byModel: run.currency === null ? [] : readModels(run.by_model_json),
    currency: run.currency,
  };
}

/** What a sum does not have. */
export const NO_RUN = {
  ...{ by_model_json: null, status: null, created_at: null, completed_at: null, first_token_ms: null, currency: null },
} as const;
const NO_KEYS = { hour: null, agent: null, model: null, error_code: null, agency_version: null } as const;

/** Sums up ended runs by day and member. */
export function sumByMember(runs: readonly RunOfSlice[]): SumRow[] {
  const sums = new Map<string, { sum: SumRow; measures: Measures }>();
  for (const run of runs) {
    const key = JSON.stringify([run.day, run.consumer_id]);
    const known = sums.get(key);
    const measures = known?.measures ?? {};
    addMeasures(measures, measureRun(toMeasuredRun(run)));
    sums.set(key, {
      sum: { ...(known === undefined ? run : addRun(known.sum, run)), ...NO_KEYS, ...NO_RUN },
      measures,
    });
  }
  return [...sums.values()].map(({ sum, measures }) => ({ ...sum, measures: JSON.stringify(measures) }));
}

function addRun(sum: SumRow, run: RunOfSlice): SumRow {
  const usage = addUsage(toUsage(sum), toUsage(run));
  return {
    ...sum,
    runs: Number(sum.runs) + 1,
    newest_run_id: sum.newest_run_id > run.newest_run_id ? sum.newest_run_id : run.newest_run_id,
    request_count: usage.requestCount,
    input_tokens: usage.inputTokens,
    cached_tokens: usage.cachedTokens,
    output_tokens: usage.outputTokens,
    reasoning_tokens: usage.reasoningTokens,
    charged_runs: Number(sum.charged_runs) + Number(run.charged_runs),
    charged_tokens: Number(sum.charged_tokens) + Number(run.charged_tokens),
    charged_credits: Number(sum.charged_credits) + Number(run.charged_credits),
  };
}

export const toUsage = (row: SumRow) =>
  usageFromRow({
    request_count: Number(row.request_count),
    input_tokens: Number(row.input_tokens),
    cached_tokens: Number(row.cached_tokens),
    output_tokens: Number(row.output_tokens),
    reasoning_tokens: Number(row.reasoning_tokens),
  });
