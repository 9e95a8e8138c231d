import { RecordedCalls } from '../agent/recorded-calls.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import type { Step } from '../domain/run/step.ts';

/**
 * Returns the calls of the run that this one repeats, or null if this run makes its calls. `steps` are the run's own, `chained`
 * belong to the runs that it continues.
 */
export function readRecorded(
  { extras: { rerun }, original }: Pick<AdmittedRun, 'extras' | 'original'>,
  chained: readonly Step[],
  steps: readonly Step[],
): RecordedCalls | null {
  if (rerun === undefined || rerun.tools === 'live') return null;
  const known = [...chained, ...steps];
  return rerun.of === null
    ? RecordedCalls.ofEval(rerun.eval, known)
    : RecordedCalls.ofRun([...chained, ...(original ?? [])], known);
}
