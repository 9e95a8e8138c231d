import { type CaseResult, type RepeatOutcome, toResult } from './case-result.ts';
import type { EvalCase, EvalRecord, EvalSuite, Failure } from './eval-case.ts';
import { caseRequest, type EvalRuns } from './eval-run.ts';
import { checkExpectations, type SchemaProblem } from './expectations.ts';
import { isEnough, judgeRequest, readVerdict } from './judge.ts';

export interface EvalOptions {
  /** Null for the agency's own model. */
  readonly models: readonly (string | null)[];
  readonly parallel: number;
  readonly signal: AbortSignal;
  readonly schemaProblem: SchemaProblem;
  /** Called after each run of a case. */
  readonly onProgress: (done: number, total: number) => void;
}

interface Job {
  readonly suite: EvalSuite;
  readonly evalCase: EvalCase;
  readonly model: string | null;
  readonly outcomes: RepeatOutcome[];
}

/**
 * Runs each case with each model, as often as the file asks. Resolves to the results in the files' order. After an abort it leaves
 * out cases that had not ended.
 */
export async function runEvals(
  runs: Pick<EvalRuns, 'run'>,
  suites: readonly EvalSuite[],
  { models, parallel, signal, schemaProblem, onProgress }: EvalOptions,
): Promise<readonly CaseResult[]> {
  const jobs: readonly Job[] = suites.flatMap((suite) =>
    suite.cases.flatMap((evalCase) => models.map((model) => ({ suite, evalCase, model, outcomes: [] }))),
  );
  const queue = jobs.flatMap((job) => Array.from({ length: job.evalCase.repeat }, () => job));
  const total = queue.length;
  let done = 0;
  onProgress(done, total);
  const work = async () => {
    for (let job = queue.shift(); job !== undefined && !signal.aborted; job = queue.shift()) {
      const outcome = await runOnce(runs, job, schemaProblem);
      if (signal.aborted) return;
      job.outcomes.push(outcome);
      done += 1;
      onProgress(done, total);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return jobs
    .filter(({ evalCase, outcomes }) => outcomes.length === evalCase.repeat)
    .map(({ suite, evalCase, model, outcomes }) => toResult(suite, evalCase, model, outcomes));
}

const NO_JUDGE = { verdict: null, judgeUsage: null, judgeCost: null };

/** Never rejects: what cannot be known is an error of the outcome. */
async function runOnce(
  runs: Pick<EvalRuns, 'run'>,
  { suite, evalCase, model }: Job,
  schemaProblem: SchemaProblem,
): Promise<RepeatOutcome> {
  let record: EvalRecord;
  try {
    record = await runs.run(caseRequest(evalCase, suite.agency, model));
  } catch (error) {
    return { record: null, failures: [], ...NO_JUDGE, error: toError('run', error) };
  }
  const failures = checkExpectations(evalCase, record, schemaProblem);
  const { judge } = evalCase.expect;
  // A run that failed has no answer to judge.
  if (judge === undefined || record.status !== 'completed') {
    return { record, failures, ...NO_JUDGE, error: null };
  }
  try {
    const judged = await runs.run(judgeRequest(evalCase, judge, record, suite.agency));
    const usage = { judgeUsage: judged.usage, judgeCost: judged.cost };
    try {
      const verdict = readVerdict(judged);
      const failed = isEnough(verdict, judge) ? [] : [judgeFailure(verdict.score, verdict.reason)];
      return { record, failures: [...failures, ...failed], verdict, ...usage, error: null };
    } catch (error) {
      return { record, failures, verdict: null, ...usage, error: toError('judge', error) };
    }
  } catch (error) {
    return { record, failures, ...NO_JUDGE, error: toError('judge', error) };
  }
}

const judgeFailure = (score: number, reason: string): Failure => ({
  expectation: 'judge',
  message: `The score is ${score}: ${reason}`,
});

const toError = (expectation: string, error: unknown): Failure => ({
  expectation,
  message: error instanceof Error ? error.message : String(error),
});
