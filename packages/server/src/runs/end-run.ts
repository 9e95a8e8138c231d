import { recordQuestions } from '../chats/fork/find-questions.ts';
import { type Charge, chargeFor, NO_CHARGE } from '../domain/admission/allowance.ts';
import type { ChangedFile } from '../domain/file/changed-file.ts';
import { newId } from '../domain/ids.ts';
import { type Prices, withPrices } from '../domain/model/prices.ts';
import type { ModelUsage, Usage } from '../domain/model/usage.ts';
import type { OpenQuestions, Question } from '../domain/question/question.ts';
import type { AttemptStart, RunIdentity } from '../domain/run/admitted-run.ts';
import { findLastingAgent } from '../domain/run/beginning-agent.ts';
import type { RunItem } from '../domain/run/events.ts';
import { AlreadyEnded, RunLost } from '../domain/run/run-lost.ts';
import type { RunEndStatus, RunError } from '../domain/run/run-state.ts';
import type { JournalledStep } from '../domain/run/step.ts';
import type { UnfinishedStep } from '../domain/run/unfinished-step.ts';
import { storeChunks } from '../eventlog/event-log.ts';
import type { Chunk } from '../eventlog/run-log.ts';
import type { EarlierNodes } from '../store/earlier-nodes.ts';
import { deleteActiveRun, insertUnsuccessfulRun, NO_MEMBER } from '../store/queries/active-runs.ts';
import { growChat, insertMessage } from '../store/queries/admission.ts';
import { storeLastingAgent } from '../store/queries/chat-states.ts';
import { endOfRun, finishRun } from '../store/queries/runs.ts';
import { first, type Tx } from '../store/store.ts';
import type { EventOutbox } from '../webhooks/event-outbox.ts';
import { noteCharge } from '../webhooks/note-charge.ts';
import { countRun } from './count-run.ts';
import { storeStep, storeUnfinished } from './journal.ts';
import { onlyStepJson } from './only-step.ts';
import { recordRunEvents } from './run-events.ts';

/** How a run ends, and what it has produced and used until then. */
export interface RunOutcome {
  readonly run: RunIdentity & Pick<AttemptStart, 'attempt' | 'nodeId' | 'trace'>;
  readonly status: RunEndStatus;
  readonly error: RunError | null;
  /** The status with which the provider refused the call that failed the run; null if it failed for another reason. */
  readonly providerStatus: number | null;
  readonly items: readonly RunItem[];
  /** The answer. */
  readonly text: string;
  /** A structured answer's value; null if the answer is free text. */
  readonly output: { readonly value: unknown } | null;
  /** The questions with which the run ends: only a completed run asks. */
  readonly questions: readonly Question[];
  /** The files that the run changed. */
  readonly files: readonly ChangedFile[];
  /** True if a model accepted a call, in the attempt that ends the run or in a journalled step. */
  readonly accepted: boolean;
  readonly usage: Usage;
  readonly byModel: readonly ModelUsage[];
  readonly steps: number;
  /** From admission to the first output of a model that counts; null if there is none, or if it is not known. */
  readonly firstTokenMs: number | null;
  /** See `RunExtras.begins`. Absent in an orphan, which asks nothing. */
  readonly begins?: string | undefined;
  /** True if the run settles questions of another one. */
  readonly continues: boolean;
}

/** A run's last events, with their ids. */
export interface EndRecord {
  /** The attempt under which the end is written: the run's own, or the next one if the run is an orphan. */
  readonly attempt: number;
  /** The step that commits together with the end, if there is one. */
  readonly lastStep: JournalledStep | null;
  /** The calls that gave no result and are not stored yet. */
  readonly unfinished: readonly UnfinishedStep[];
  readonly chunks: readonly Chunk[];
  readonly lastEventId: number;
  /** Written as the run's start if the run's row has none. */
  readonly startedAt: number;
}

interface EndDeps {
  readonly outbox: Pick<EventOutbox, 'mayWant' | 'record'>;
  readonly prices: Prices;
  readonly earlierNodes: Pick<EarlierNodes, 'areAlive'>;
}

/** The agent that gave the answer: after a hand-off it is another one than the entry point. */
function answeringAgent({ run, items }: RunOutcome): string {
  return (
    items.findLast((item) => item.kind !== 'user' && item.callerAgent === null && item.kind !== 'tool_output')?.agent ??
    run.agent
  );
}

/**
 * T4: writes status, answer, usage, rollups, the last events and those for webhooks together. This is the only function that ends a run.
 * Lock order: chat, run, rollups. The member's row is never locked here: a message that arrives while the last run ends locks
 * it first, and the other order would deadlock.
 */
export async function endRun(tx: Tx, deps: EndDeps, outcome: RunOutcome, record: EndRecord): Promise<Charge> {
  const now = Date.now();
  const { run, begins, status, text, questions, accepted, usage, steps, firstTokenMs } = outcome;
  const { currency } = deps.prices;
  const { runId, chatKey } = run;
  const { lastStep, chunks, lastEventId } = record;
  const errorCode = outcome.error?.code ?? null;
  const errorMessage = outcome.error?.message ?? null;
  const byModel = withPrices(outcome.byModel, deps.prices);
  const charge = run.rerunOf === null ? chargeFor({ status, errorCode, accepted }, usage, byModel) : NO_CHARGE;
  const agent = answeringAgent(outcome);
  // A chain of questions is read from its steps' rows. The run's row has its first step's agent.
  const keepsStep =
    deps.earlierNodes.areAlive() || questions.length > 0 || outcome.continues || lastStep?.agent !== run.agent;
  const onlyStep = keepsStep ? null : onlyStepJson({ agent, text, steps, usage, lastStep });
  const open: OpenQuestions | null =
    questions.length === 0 ? null : { runId, agent: run.agent, ...(begins !== undefined && { begins }), questions };
  // All statements are sent together: that is one round trip to the database.
  const writes: Promise<unknown>[] = [];
  const grown = tx.run(growChat, {
    chatKey,
    textBytes: Buffer.byteLength(text),
    questionsJson: open === null ? null : JSON.stringify(open),
    askingRunId: open === null ? null : runId,
    // Admission has settled those of the run before.
    knownQuestionsJson: null,
    now,
  });
  const answered = tx.run(insertMessage, {
    message_id: newId('msg'),
    chat_key: chatKey,
    run_id: runId,
    role: 'assistant',
    status,
    agent,
    content_json: JSON.stringify(text),
    error_code: errorCode,
    error_message: errorMessage,
    sandbox_files_json: null,
    created_at: now,
  });
  writes.push(grown, answered);
  const finished = tx.run(finishRun, {
    runId,
    attempt: run.attempt,
    nextAttempt: record.attempt,
    status,
    step: steps,
    structured: outcome.output === null ? 0 : 1,
    onlyStepJson: onlyStep,
    firstTokenMs,
    lastEventId,
    errorCode,
    errorMessage,
    ...usage,
    byModelJson: JSON.stringify(byModel),
    currency,
    chargedRuns: charge.runs,
    chargedTokens: charge.tokens,
    chargedCredits: charge.credits,
    startedAt: record.startedAt,
    now,
  });
  const owner = { integration_id: run.integrationId, consumer_id: run.consumerId ?? NO_MEMBER };
  writes.push(finished, tx.run(deleteActiveRun, { ...owner, chat_key: chatKey, run_id: runId }));
  if (status !== 'completed') writes.push(tx.run(insertUnsuccessfulRun, { runId }));
  if (open !== null) writes.push(recordQuestions(tx, { ...run, now }, open));
  if (lastStep !== null && onlyStep === null) writes.push(storeStep(tx, runId, lastStep));
  writes.push(...storeUnfinished(tx, runId, record.unfinished), storeChunks(tx, runId, chunks));
  writes.push(
    ...countRun(tx, { run, status, errorCode, usage, byModel, currency, firstTokenMs, completedAt: now, charge }),
  );
  await Promise.all(writes);
  const lastingAgent = status === 'completed' ? findLastingAgent(outcome.items) : undefined;
  // Sent after `growChat`, which locks the chat first.
  if (lastingAgent !== undefined) await tx.run(storeLastingAgent, { chatKey, agent: lastingAgent });
  if ((await finished) !== 1) throw await whyNotEnded(tx, outcome, record);
  if (deps.outbox.mayWant(run.integrationId)) {
    await recordRunEvents(tx, deps.outbox, outcome);
    const { integrationId, consumerId, createdAt: at } = run;
    if (consumerId !== null) {
      await noteCharge(tx, deps.outbox, { id: runId, integrationId, consumerId, amounts: charge, at });
    }
  }
  return charge;
}

/** The commit of an earlier try may have happened although its answer was lost: then the end is already written. */
async function whyNotEnded(tx: Tx, { run, status }: RunOutcome, { attempt, lastEventId }: EndRecord): Promise<Error> {
  const row = await first(tx.all(endOfRun, { runId: run.runId }));
  const isOwn = row?.status === status && row.attempt === attempt && row.last_event_id === lastEventId;
  if (isOwn) return new AlreadyEnded(`Run ${run.runId} has this end already.`);
  return RunLost.ofAttempt(run.runId, run.attempt);
}
