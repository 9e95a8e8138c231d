import type { PromptItem } from '../agent/ports.ts';
import type { RunContinuation } from '../agent/run-scope.ts';
import type { RunId } from '../domain/ids.ts';
import type { Continuation } from '../domain/question/question.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import type { JournalledStep } from '../domain/run/step.ts';
import { journalledStep } from '../runs/journal.ts';
import { continuedRun } from '../store/queries/runs.ts';
import { getJournal } from '../store/queries/takeover.ts';
import { first, type Reads } from '../store/store.ts';

/**
 * The runs that a run continues, oldest first: each one but the first has settled the questions of the one before it. The
 * loops walk the chain's journal as one, so that the run continues at the end of the chain.
 */
export interface Chain {
  readonly runIds: readonly RunId[];
  readonly steps: readonly JournalledStep[];
  /** For each run of the chain the number of steps of the root loop at its end. */
  readonly rootSteps: readonly number[];
}

/** The chain of a run that continues no other. */
export const NO_CHAIN: Chain = { runIds: [], steps: [], rootSteps: [] };

/** Reads the chain of a run that settles this one's questions. */
export async function readChain(reads: Reads, { runId: askingRun }: Continuation): Promise<Chain> {
  const runIds: RunId[] = [];
  for (let runId: RunId | null = askingRun; runId !== null; ) {
    runIds.unshift(runId);
    runId = (await first(reads.all(continuedRun, { runId })))?.continues ?? null;
  }
  const steps: JournalledStep[] = [];
  const rootSteps: number[] = [];
  for (const runId of runIds) {
    steps.push(...(await reads.all(getJournal, { runId })).map(journalledStep));
    rootSteps.push(steps.filter(({ kind, loop }) => kind === 'model' && loop === '').length);
  }
  return { runIds, steps, rootSteps };
}

export function findContinuation(
  { continuation }: Pick<AdmittedRun, 'continuation'>,
  messages: ReadonlyMap<number, readonly PromptItem[]>,
): RunContinuation | null {
  if (continuation === null) return null;
  const { runId, settlements } = continuation;
  return { runId, settlements: new Map(settlements.map((one) => [one.callId, one])), messages };
}
