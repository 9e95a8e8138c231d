import type { PromptItem } from '../agent/ports.ts';
import type { RunContinuation } from '../agent/run-scope.ts';
import type { ChatKey, RunId } from '../domain/ids.ts';
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
  /** True if the last run asked in another chat, which was forked. */
  readonly askedElsewhere: boolean;
}

/** The chain of a run that continues no other. */
export const NO_CHAIN: Chain = { runIds: [], steps: [], rootSteps: [], askedElsewhere: false };

/** Reads the chain of a run that settles questions, in the chat `chatKey`. */
export async function readChain(reads: Reads, chatKey: ChatKey, { runId: askingRun }: Continuation): Promise<Chain> {
  const runIds: RunId[] = [];
  let askedElsewhere = false;
  let next: RunId | null = askingRun;
  while (next !== null) {
    const runId: RunId = next;
    const run = await first(reads.all(continuedRun, { runId }));
    if (runId === askingRun) askedElsewhere = run?.chat_key !== chatKey;
    runIds.unshift(runId);
    next = run?.continues ?? null;
  }
  const steps: JournalledStep[] = [];
  const rootSteps: number[] = [];
  for (const runId of runIds) {
    steps.push(...(await reads.all(getJournal, { runId })).map(journalledStep));
    rootSteps.push(steps.filter(({ kind, loop }) => kind === 'model' && loop === '').length);
  }
  return { runIds, steps, rootSteps, askedElsewhere };
}

/**
 * An approved call has the asking run in its key, and in a fork the answering run: each chat that approves the call
 * makes it, and a key that both share would let only one of them take effect.
 */
export function findContinuation(
  { runId, continuation }: Pick<AdmittedRun, 'runId' | 'continuation'>,
  { askedElsewhere }: Chain,
  messages: ReadonlyMap<number, readonly PromptItem[]>,
): RunContinuation | null {
  if (continuation === null) return null;
  const keyRunId = askedElsewhere ? runId : continuation.runId;
  return { keyRunId, settlements: new Map(continuation.settlements.map((one) => [one.callId, one])), messages };
}
