import type { Usage } from '@runwire/client';
import type { Cost, EvalCase, EvalRecord, EvalSuite, Failure } from './eval-case.ts';
import type { Verdict } from './judge.ts';

/** How one run ended, and what was wrong with it. */
export interface RepeatOutcome {
  /** Null if there was no run: the server refused it, or could not be reached. */
  readonly record: EvalRecord | null;
  readonly failures: readonly Failure[];
  readonly verdict: Verdict | null;
  readonly judgeUsage: Usage | null;
  readonly judgeCost: Cost | null;
  /** Why it is not known if the run passes. Null if it is known. */
  readonly error: Failure | null;
}

/** A case with one model. */
export interface CaseResult {
  readonly suite: EvalSuite;
  readonly evalCase: EvalCase;
  /** Null if no model was named: the agency chooses. */
  readonly model: string | null;
  readonly outcomes: readonly RepeatOutcome[];
  readonly passed: number;
  readonly status: 'passed' | 'failed' | 'error';
  readonly failures: readonly Failure[];
  readonly usage: Usage;
  readonly judgeUsage: Usage;
  /** Null if a price is not known. */
  readonly cost: Cost | null;
  readonly medianSeconds: number | null;
}

const NO_USAGE: Usage = {
  ...{ request_count: 0, input_tokens: 0, cached_tokens: 0, output_tokens: 0, reasoning_tokens: 0, total_tokens: 0 },
};

export const hasPassed = ({ error, failures }: RepeatOutcome): boolean => error === null && failures.length === 0;

/** Adds up a case's repeats. It is an error if the repeats without a result could still make it pass. */
export function toResult(
  suite: EvalSuite,
  evalCase: EvalCase,
  model: string | null,
  outcomes: readonly RepeatOutcome[],
): CaseResult {
  const passed = outcomes.filter(hasPassed).length;
  const errors = outcomes.filter(({ error }) => error !== null).length;
  const { atLeast } = evalCase;
  const status = passed >= atLeast ? 'passed' : passed + errors >= atLeast ? 'error' : 'failed';
  const records = outcomes.flatMap(({ record }) => record ?? []);
  return {
    ...{ suite, evalCase, model, outcomes, passed, status },
    failures: distinct(outcomes.flatMap(({ failures, error }) => (error === null ? failures : [...failures, error]))),
    usage: addUsage(records.map(({ usage }) => usage)),
    judgeUsage: addUsage(outcomes.flatMap(({ judgeUsage }) => judgeUsage ?? [])),
    cost: addCosts(outcomes),
    medianSeconds: median(records.map(({ seconds }) => seconds)),
  };
}

function distinct(failures: readonly Failure[]): readonly Failure[] {
  return [...new Map(failures.map((one) => [`${one.expectation}\n${one.message}`, one])).values()];
}

function addUsage(usages: readonly Usage[]): Usage {
  const names = Object.keys(NO_USAGE) as (keyof Usage)[];
  const sum = (name: keyof Usage) => usages.reduce((total, usage) => total + usage[name], 0);
  return Object.fromEntries(names.map((name) => [name, sum(name)])) as unknown as Usage;
}

/** Includes the judge. Returns null if a cost is not known. */
function addCosts(outcomes: readonly RepeatOutcome[]): Cost | null {
  const costs = outcomes.flatMap(({ record, judgeUsage, judgeCost }) => [
    ...(record === null ? [] : [record.cost]),
    ...(judgeUsage === null ? [] : [judgeCost]),
  ]);
  const known = costs.filter((cost) => cost !== null);
  const currency = known[0]?.currency;
  if (currency === undefined || known.length < costs.length) return null;
  const amount = known.reduce((sum, cost) => sum + cost.amount, 0);
  return { amount: Math.round(amount * 1e6) / 1e6, currency };
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  if (sorted.length === 0) return null;
  const [low = 0, high = 0] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return Math.round(((low + high) / 2) * 1000) / 1000;
}

/** Names the file in reports. */
export const suiteFile = ({ agency, file }: EvalSuite): string => `${agency}/${file}`;
