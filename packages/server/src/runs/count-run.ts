import type { Charge } from '../domain/admission/allowance.ts';
import type { IntegrationId, RunId } from '../domain/ids.ts';
import { type ModelUsage, totalTokens, type Usage } from '../domain/model/usage.ts';
import {
  addMeasures,
  costedRun,
  costOfModel,
  countForModels,
  countMeasures,
  type MeasuredRun,
  measureRun,
} from '../domain/run/measures.ts';
import type { RunEndStatus } from '../domain/run/run-state.ts';
import { HOUR_MS } from '../domain/time.ts';
import {
  type HourKey,
  type MemberDay,
  raiseMemberDay,
  raiseUsageHour,
  type UsageHour,
} from '../store/queries/rollups.ts';
import type { Tx } from '../store/store.ts';

/** A run's columns by which it is counted. */
export interface CountedColumns {
  readonly runId: RunId;
  readonly integrationId: IntegrationId;
  readonly consumerId: string | null;
  readonly nodeId: string;
  /** The agent that the run was admitted for. */
  readonly agent: string;
  readonly agencyVersion: string | null;
  readonly day: number;
  readonly createdAt: number;
  /** The run that it reruns, or null. */
  readonly rerunOf: RunId | null;
}

/** An ended run, as the rollups count it. */
export interface CountedRun {
  readonly run: CountedColumns;
  readonly status: RunEndStatus;
  readonly errorCode: string | null;
  readonly usage: Usage;
  readonly byModel: readonly ModelUsage[];
  /** The currency in which models cost. */
  readonly currency: string | null;
  readonly firstTokenMs: number | null;
  readonly completedAt: number;
  readonly charge: Charge;
}

const toMeasured = ({ run, completedAt, ...end }: CountedRun): MeasuredRun => ({
  ...end,
  durationMs: completedAt - run.createdAt,
});

/** Adds a run to the rollups. The transaction also marks the run as counted. */
export function countRun(tx: Tx, end: CountedRun): Promise<unknown>[] {
  const raised: Promise<unknown>[] = usageHours(end).map((hour) => tx.run(raiseUsageHour, hour));
  const day = memberDay(end);
  if (day !== null) raised.push(tx.run(raiseMemberDay, { ...day, ...end.charge }));
  return raised;
}

/** What the run adds to the member's day besides the allowance; null if it has no member, or is a rerun. */
export function memberDay(end: CountedRun): Omit<MemberDay, keyof Charge> | null {
  const { run, usage, charge } = end;
  const { integrationId, consumerId, day, runId } = run;
  if (consumerId === null || run.rerunOf !== null) return null;
  return {
    integrationId,
    consumerId,
    day,
    ...usage,
    endedRuns: 1,
    chargedRuns: charge.runs,
    chargedTokens: charge.tokens,
    chargedCredits: charge.credits,
    newestRunId: runId,
    measuresJson: JSON.stringify(measureRun(toMeasured(end))),
  };
}

/**
 * A run's rows: one if it used one model. The rows of a run add up to the run, and a model's row has what the model
 * used. If the models do not add up to the run, a row without a model has the rest.
 */
export function usageHours(end: CountedRun): UsageHour[] {
  const { run, status, errorCode, usage, byModel, currency, charge } = end;
  const key: Omit<HourKey, 'model'> = {
    integrationId: run.integrationId,
    hour: Math.floor(run.createdAt / HOUR_MS),
    nodeId: run.nodeId,
    agent: run.agent,
    status,
    errorCode: errorCode ?? '',
    agencyVersion: run.agencyVersion ?? '',
    hasMember: run.consumerId === null ? 0 : 1,
    rerun: run.rerunOf === null ? 0 : 1,
  };
  const isCharged = charge.runs > 0;
  const measured = toMeasured(end);
  const counted = countMeasures(measured);
  let rest: Usage = usage;
  let chargedTokens = charge.tokens;
  let chargedCredits = charge.credits;
  const rows = byModel.map((one, index): UsageHour => {
    const { model, credits, cost: _, ...used } = one;
    const measures = index === 0 ? { ...counted, ...costedRun(measured) } : countForModels(counted);
    addMeasures(measures, costOfModel(one, currency));
    const charged = isCharged ? { tokens: totalTokens(used), credits } : { tokens: 0, credits: 0 };
    rest = subtractUsage(rest, used);
    chargedTokens -= charged.tokens;
    chargedCredits -= charged.credits;
    return {
      ...key,
      model,
      runs: index === 0 ? 1 : 0,
      modelRuns: 1,
      ...used,
      chargedRuns: index === 0 ? charge.runs : 0,
      chargedModelRuns: isCharged ? 1 : 0,
      chargedTokens: charged.tokens,
      chargedCredits: charged.credits,
      newestRunId: run.runId,
      measuresJson: JSON.stringify(measures),
    };
  });
  const hasRest = chargedTokens !== 0 || chargedCredits !== 0 || Object.values(rest).some((amount) => amount !== 0);
  if (rows.length > 0 && !hasRest) return rows;
  const isFirst = rows.length === 0;
  const measuresJson = JSON.stringify(isFirst ? measureRun(measured) : {});
  const amounts = { ...rest, modelRuns: 0, chargedModelRuns: 0, chargedTokens, chargedCredits, newestRunId: run.runId };
  rows.push({
    ...key,
    model: '',
    ...amounts,
    measuresJson,
    runs: isFirst ? 1 : 0,
    chargedRuns: isFirst ? charge.runs : 0,
  });
  return rows;
}

function subtractUsage(a: Usage, b: Usage): Usage {
  return {
    requestCount: a.requestCount - b.requestCount,
    inputTokens: a.inputTokens - b.inputTokens,
    cachedTokens: a.cachedTokens - b.cachedTokens,
    outputTokens: a.outputTokens - b.outputTokens,
    reasoningTokens: a.reasoningTokens - b.reasoningTokens,
  };
}
