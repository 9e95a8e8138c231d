import { type Charge, chargeFor } from '../domain/allowance.ts';
import { newId } from '../domain/ids.ts';
import { type Prices, withCredits } from '../domain/prices.ts';
import type { RunEndStatus, RunError } from '../domain/run-state.ts';
import type { JournalledStep } from '../domain/step.ts';
import type { ModelUsage, Usage } from '../domain/usage.ts';
import { storeChunks } from '../eventlog/event-log.ts';
import type { Chunk } from '../eventlog/run-log.ts';
import { growChat, insertMessage } from '../store/queries/admission.ts';
import { raiseUsageDay } from '../store/queries/allowance.ts';
import { finishRun } from '../store/queries/runs.ts';
import type { Tx } from '../store/store.ts';
import { storeStep } from './journal.ts';
import { RunLost } from './run-lost.ts';

export interface RunEnd {
  readonly runId: string;
  readonly integrationId: string;
  readonly consumerId: string | null;
  readonly chatKey: string;
  readonly agent: string;
  readonly day: number;
  /** The attempt that must still be the run's own. */
  readonly attempt: number;
  /** The attempt under which the end is written: the next one where the run was found dead. */
  readonly nextAttempt: number;
  readonly status: RunEndStatus;
  readonly error: RunError | null;
  readonly text: string;
  readonly usage: Usage;
  readonly byModel: readonly ModelUsage[];
  readonly prices: Prices;
  readonly steps: number;
  readonly lastStep: JournalledStep | null;
  readonly chunks: readonly Chunk[];
  readonly lastEventId: number;
  readonly startedAt: number;
}

/**
 * T4: state, answer, usage, day totals and the last events, together. Lock order: chat, run, day; the member's row is
 * never taken here (the other order deadlocks when the next message is sent as the last one ends).
 */
export async function endRun(tx: Tx, end: RunEnd): Promise<Charge> {
  const now = Date.now();
  const byModel = withCredits(end.byModel, end.prices);
  const charge = chargeFor(end.usage, byModel, end.error?.code ?? null);
  await tx.run(growChat, {
    chatKey: end.chatKey,
    textBytes: Buffer.byteLength(end.text),
    alias: null,
    now,
  });
  await tx.run(insertMessage, {
    messageId: newId('msg'),
    chatKey: end.chatKey,
    runId: end.runId,
    role: 'assistant',
    status: end.status,
    agent: end.agent,
    contentJson: JSON.stringify(end.text),
    errorCode: end.error?.code ?? null,
    errorMessage: end.error?.message ?? null,
    now,
  });
  const changed = await tx.run(finishRun, {
    runId: end.runId,
    attempt: end.attempt,
    nextAttempt: end.nextAttempt,
    status: end.status,
    step: end.steps,
    lastEventId: end.lastEventId,
    errorCode: end.error?.code ?? null,
    errorMessage: end.error?.message ?? null,
    ...end.usage,
    byModelJson: JSON.stringify(byModel),
    chargedRuns: charge.runs,
    chargedTokens: charge.tokens,
    chargedCredits: charge.credits,
    startedAt: end.startedAt,
    now,
  });
  if (changed !== 1) throw new RunLost(`Run ${end.runId} is no longer of attempt ${end.attempt}.`);
  if (end.lastStep !== null) await storeStep(tx, end.runId, end.lastStep);
  await storeChunks(tx, end.runId, end.chunks);
  if (end.consumerId !== null && charge.runs > 0) {
    await tx.run(raiseUsageDay, {
      integrationId: end.integrationId,
      consumerId: end.consumerId,
      day: end.day,
      ...charge,
    });
  }
  return charge;
}
