import { type CaseResult, suiteFile } from './case-result.ts';

/** What `--json` prints. */
export function jsonReport(results: readonly CaseResult[], passed: boolean): object {
  return {
    passed,
    cases: results.map((result) => ({
      ...{ file: suiteFile(result.suite), name: result.evalCase.name, model: result.model },
      ...{ repeats: result.outcomes.length, passed: result.passed, status: result.status, failures: result.failures },
      ...{ usage: result.usage, judgeUsage: result.judgeUsage, cost: result.cost, medianSeconds: result.medianSeconds },
    })),
  };
}
