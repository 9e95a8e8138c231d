import type { Generated } from 'kysely';
import type { IntegrationId, RunId } from '../domain/ids.ts';
import type { RunEndStatus } from '../domain/run/run-state.ts';

/**
 * The usage of ended runs by hour of admission. T4 raises one row for a run with one model. A run with several models raises
 * a row for each of them: the tokens are divided among the rows, and the first row has the run.
 */
export interface UsageHoursTable {
  integration_id: IntegrationId;
  /** Hours since 1970. */
  hour: number;
  agent: string;
  /** Empty for what a run used without a model. */
  model: string;
  /** The run's node. Each node raises rows of its own, so nodes do not wait for each other. */
  node_id: string;
  status: RunEndStatus;
  /** Empty if the run has no error. */
  error_code: string;
  /** Empty for runs of earlier versions. */
  agency_version: string;
  /** 1 if the runs have a member, 0 if they have none. */
  has_member: number;
  /** 1 for runs that repeat an earlier run. */
  rerun: number;
  /** The number of runs. A run with several models counts in its first model's row only. */
  runs: number;
  /** The number of runs that used this model. */
  model_runs: number;
  request_count: number;
  input_tokens: number;
  cached_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  /** As `runs`, `model_runs` and the tokens, of runs that were charged. */
  charged_runs: number;
  charged_model_runs: number;
  charged_tokens: number;
  charged_credits: number;
  newest_run_id: string;
  /** `Measures`. */
  measures_json: Generated<string>;
}

/**
 * Columns of `usage_days`: the usage of the member's ended runs, without adjustments. `charged_…` is what `runs`, `tokens`
 * and `credits` are without adjustments.
 */
export interface MemberUsageColumns {
  ended_runs: Generated<number>;
  request_count: Generated<number>;
  input_tokens: Generated<number>;
  cached_tokens: Generated<number>;
  output_tokens: Generated<number>;
  reasoning_tokens: Generated<number>;
  charged_runs: Generated<number>;
  charged_tokens: Generated<number>;
  charged_credits: Generated<number>;
  newest_run_id: Generated<string>;
  /** `Measures`. */
  measures_json: Generated<string>;
}

/** How far the sweep has added runs of earlier versions to the rollups. It has one row, which is deleted after the last run. */
export interface UsageWalkTable {
  id: number;
  /** The last run that was added. */
  after_run_id: string;
  /** The last run to add. */
  last_run_id: string;
}

/** Ended runs that are not part of the rollups: a node of an earlier version ended them. The sweep adds them. */
export interface UncountedRunsTable {
  run_id: RunId;
  integration_id: IntegrationId;
}
