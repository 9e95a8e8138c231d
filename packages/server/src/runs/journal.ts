import type { ModelUsage, Usage } from '../domain/usage.ts';
import { storeChunks } from '../eventlog/event-log.ts';
import type { Chunk } from '../eventlog/run-log.ts';
import { advanceRun, insertStep } from '../store/queries/runs.ts';
import type { Tx } from '../store/store.ts';
import { RunLost } from './run-lost.ts';

/** A finished step with the ids of its first and last event. `record` is what a later attempt goes on from. */
export interface JournalEntry {
  readonly step: number;
  readonly kind: 'model' | 'tool';
  readonly agent: string;
  readonly callerAgent: string | null;
  readonly model: string | null;
  readonly tool: string | null;
  readonly callId: string | null;
  readonly status: 'completed' | 'failed';
  readonly firstEventId: number;
  readonly lastEventId: number;
  readonly record: unknown;
  readonly startedAt: number;
  readonly completedAt: number;
}

export async function storeStep(tx: Tx, runId: string, attempt: number, entry: JournalEntry): Promise<void> {
  const { record, ...columns } = entry;
  await tx.run(insertStep, { runId, attempt, ...columns, recordJson: JSON.stringify(record) });
}

export interface StepDone {
  readonly runId: string;
  readonly attempt: number;
  readonly entry: JournalEntry;
  readonly usage: Usage;
  readonly byModel: readonly ModelUsage[];
  readonly steps: number;
  readonly chunks: readonly Chunk[];
  readonly startedAt: number;
}

/** T3: the journal record and all events up to it; a chunk ends exactly there. */
export async function journalStep(tx: Tx, step: StepDone): Promise<void> {
  const advanced = tx.run(advanceRun, {
    runId: step.runId,
    attempt: step.attempt,
    step: step.steps,
    ...step.usage,
    byModelJson: JSON.stringify(step.byModel),
    startedAt: step.startedAt,
  });
  await Promise.all([
    advanced,
    storeStep(tx, step.runId, step.attempt, step.entry),
    storeChunks(tx, step.runId, step.chunks),
  ]);
  if ((await advanced) !== 1) throw new RunLost(`Run ${step.runId} is no longer of attempt ${step.attempt}.`);
}
