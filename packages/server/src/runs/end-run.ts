import { type Charge, chargeFor } from '../domain/allowance.ts';
import { newId } from '../domain/ids.ts';
import { type Prices, withCredits } from '../domain/prices.ts';
import type { OpenQuestions } from '../domain/question.ts';
import { AlreadyEnded, RunLost } from '../domain/run-lost.ts';
import type { RunEndStatus, RunError } from '../domain/run-state.ts';
import type { JournalledStep } from '../domain/step.ts';
import type { ModelUsage, Usage } from '../domain/usage.ts';
import { storeChunks } from '../eventlog/event-log.ts';
import type { Chunk } from '../eventlog/run-log.ts';
import { deleteActiveRun, insertUnsuccessfulRun, NO_MEMBER } from '../store/queries/active-runs.ts';
import { growChat, insertMessage } from '../store/queries/admission.ts';
import { endOfRun, finishRun } from '../store/queries/runs.ts';
import { first, type Tx } from '../store/store.ts';
import { type CountedColumns, countRun } from './count-run.ts';
import { storeStep } from './journal.ts';
import { onlyStepJson } from './only-step.ts';

export interface RunEnd {
  readonly runId: string;
  readonly chatKey: string;
  /** The columns of the run by which it is counted. */
  readonly run: CountedColumns;
  /** The agent that answered. */
  readonly agent: string;
  /** The attempt that must still be the run's own. */
  readonly attempt: number;
  /** The attempt under which the end is written: the next one if the run's process died. */
  readonly nextAttempt: number;
  readonly status: RunEndStatus;
  readonly error: RunError | null;
  readonly text: string;
  /** True if the text is JSON that the agent's output schema accepts. */
  readonly structured: boolean;
  /** The questions that the chat has from now on; null if there are none. */
  readonly questions: OpenQuestions | null;
  /** True if a model accepted a call, in the attempt that ends the run or in a journalled step. */
  readonly accepted: boolean;
  readonly usage: Usage;
  readonly byModel: readonly ModelUsage[];
  readonly prices: Prices;
  readonly steps: number;
  readonly lastStep: JournalledStep | null;
  /** True if the last step has a row even if the row of the run can have all of it. */
  readonly keepsStep: boolean;
  readonly chunks: readonly Chunk[];
  readonly lastEventId: number;
  readonly startedAt: number;
}

/**
 * T4: writes status, answer, usage, rollups and the last events together. This is the only function that ends a run.
 * Lock order: chat, run, rollups. The member's row is never locked here: a message that arrives while the last run ends locks
 * it first, and the other order would deadlock.
 */
export async function endRun(tx: Tx, end: RunEnd): Promise<Charge> {
  const now = Date.now();
  const byModel = withCredits(end.byModel, end.prices);
  const { status, accepted } = end;
  const charge = chargeFor({ status, errorCode: end.error?.code ?? null, accepted }, end.usage, byModel);
  const onlyStep = end.keepsStep ? null : onlyStepJson(end);
  // All statements are sent together: that is one round trip to the database.
  const writes: Promise<unknown>[] = [];
  writes.push(
    tx.run(growChat, {
      chatKey: end.chatKey,
      textBytes: Buffer.byteLength(end.text),
      questionsJson: end.questions === null ? null : JSON.stringify(end.questions),
      askingRunId: end.questions === null ? null : end.runId,
      // Admission has settled those of the run before.
      knownQuestionsJson: null,
      now,
    }),
    tx.run(insertMessage, {
      message_id: newId('msg'),
      chat_key: end.chatKey,
      run_id: end.runId,
      role: 'assistant',
      status: end.status,
      agent: end.agent,
      content_json: JSON.stringify(end.text),
      error_code: end.error?.code ?? null,
      error_message: end.error?.message ?? null,
      sandbox_files_json: null,
      created_at: now,
    }),
  );
  const finished = tx.run(finishRun, {
    runId: end.runId,
    attempt: end.attempt,
    nextAttempt: end.nextAttempt,
    status: end.status,
    step: end.steps,
    structured: end.structured ? 1 : 0,
    onlyStepJson: onlyStep,
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
  const { run, runId, chatKey } = end;
  const owner = { integration_id: run.integrationId, consumer_id: run.consumerId ?? NO_MEMBER };
  writes.push(finished, tx.run(deleteActiveRun, { ...owner, chat_key: chatKey, run_id: runId }));
  if (status !== 'completed') writes.push(tx.run(insertUnsuccessfulRun, { runId }));
  if (end.lastStep !== null && onlyStep === null) writes.push(storeStep(tx, end.runId, end.lastStep));
  writes.push(storeChunks(tx, end.runId, end.chunks));
  const errorCode = end.error?.code ?? null;
  writes.push(...countRun(tx, { run, status, errorCode, usage: end.usage, byModel, charge }));
  await Promise.all(writes);
  if ((await finished) !== 1) throw await whyNotEnded(tx, end);
  return charge;
}

/** The commit of an earlier try may have happened although its answer was lost: then the end is already written. */
async function whyNotEnded(tx: Tx, end: RunEnd): Promise<Error> {
  const row = await first(tx.all(endOfRun, { runId: end.runId }));
  const isOwn = row?.status === end.status && row.attempt === end.nextAttempt && row.last_event_id === end.lastEventId;
  if (isOwn) return new AlreadyEnded(`Run ${end.runId} has this end already.`);
  return RunLost.ofAttempt(end.runId, end.attempt);
}
