import { type ChatState, stateJson } from '../domain/chat/chat-state.ts';
import type { ChatKey, RunId } from '../domain/ids.ts';
import type { ModelUsage, Usage } from '../domain/model/usage.ts';
import { RunLost } from '../domain/run/run-lost.ts';
import {
  JOURNAL_FORMAT,
  JOURNAL_FORMAT_WITH_ACTIONS,
  JOURNAL_FORMAT_WITH_CONDITIONS,
  JOURNAL_FORMAT_WITH_FLOWS,
  JOURNAL_FORMAT_WITH_IMAGES,
  JOURNAL_FORMAT_WITH_LASTING,
  JOURNAL_FORMAT_WITH_STATE,
  JOURNAL_FORMAT_WITH_SUMMARIES,
  type JournalledStep,
  type StepOutcome,
} from '../domain/run/step.ts';
import type { UnfinishedStep } from '../domain/run/unfinished-step.ts';
import { storeChunks } from '../eventlog/event-log.ts';
import type { Chunk } from '../eventlog/run-log.ts';
import { storeState } from '../store/queries/chat-states.ts';
import { advanceRun } from '../store/queries/runs.ts';
import { insertStep, type StepRow } from '../store/queries/steps.ts';
import { setSummary } from '../store/queries/summaries.ts';
import { insertUnfinishedStep } from '../store/queries/unfinished-steps.ts';
import type { Tx } from '../store/store.ts';

export async function storeStep(tx: Tx, runId: RunId, step: JournalledStep): Promise<void> {
  const { usage, output, replay, tried, asks, allows, asked, files, firstTokenMs, promptBytes, tries, cost } = step;
  const { arguments: changed, shownArguments, guardrails, hidden, summary, state } = step;
  // `JSON.stringify` omits undefined fields.
  const record_json = JSON.stringify({
    ...{ usage, output, replay, tried, asks, allows, asked, files, firstTokenMs, promptBytes, tries, cost },
    ...{ arguments: changed, shownArguments, guardrails, hidden, summary, state },
  });
  await tx.run(insertStep, { ...toColumns(runId, step), kind: step.kind, status: step.status, record_json });
}

/** The calls are stored beside the journal. */
export const storeUnfinished = (tx: Tx, runId: RunId, steps: readonly UnfinishedStep[]): Promise<number>[] =>
  steps.map((step) => {
    const { kind, status, usage, firstTokenMs, promptBytes, tries, cost, guardrails, hidden, error, questionId } = step;
    const record_json = JSON.stringify({
      usage,
      output: [],
      firstTokenMs,
      promptBytes,
      tries,
      cost,
      guardrails,
      hidden,
      error,
      questionId,
    });
    return tx.run(insertUnfinishedStep, { ...toColumns(runId, step), kind, status, record_json });
  });

/** The columns that both tables have. */
const toColumns = (runId: RunId, step: Omit<JournalledStep, 'kind' | 'status' | 'output'>) => ({
  run_id: runId,
  step: step.step,
  attempt: step.attempt,
  loop: step.loop,
  index_in_loop: step.indexInLoop,
  agent: step.agent,
  caller_agent: step.callerAgent,
  model: step.model,
  tool: step.tool,
  call_id: step.callId,
  first_event_id: step.firstEventId,
  last_event_id: step.lastEventId,
  started_at: step.startedAt,
  completed_at: step.completedAt,
});

/** Decodes a step's `record_json`. */
export function stepOutcome(recordJson: string): StepOutcome {
  return JSON.parse(recordJson) as StepOutcome;
}

/** Decodes a row of the journal. */
export const journalledStep = (row: Omit<StepRow, 'run_id'>): JournalledStep => ({
  ...stepColumns(row),
  kind: row.kind,
  status: row.status,
  ...stepOutcome(row.record_json),
});

/** Decodes the columns that both tables have. */
export const stepColumns = (row: Omit<StepRow, 'run_id' | 'kind' | 'status'>) => ({
  step: row.step,
  attempt: row.attempt,
  loop: row.loop,
  indexInLoop: row.index_in_loop,
  agent: row.agent,
  callerAgent: row.caller_agent,
  model: row.model,
  tool: row.tool,
  callId: row.call_id,
  firstEventId: row.first_event_id,
  lastEventId: row.last_event_id,
  startedAt: row.started_at,
  completedAt: row.completed_at,
});

export interface StepDone {
  readonly runId: RunId;
  readonly chatKey: ChatKey;
  readonly step: JournalledStep;
  readonly usage: Usage;
  readonly byModel: readonly ModelUsage[];
  /** How many steps the run has started. */
  readonly begun: number;
  /** True if the steps' numbers have a gap, because an earlier attempt began steps that it did not finish. */
  readonly hasGap: boolean;
  /** True if the run's prompts have images of tools. */
  readonly showsImages: boolean;
  /** True if the run's prompt begins with a summary. */
  readonly usesSummary: boolean;
  /** The calls before the step that gave no result. */
  readonly cut: readonly UnfinishedStep[];
  readonly chunks: readonly Chunk[];
  /** See `RunOutcome.firstTokenMs`. */
  readonly firstTokenMs: number | null;
  readonly startedAt: number;
  readonly state: StateOfStep | null;
}

/** For runs that use the chat's state. */
export interface StateOfStep {
  /** The state after the step. Null if the step does not change it. */
  readonly changed: ChatState | null;
}

function leastFormat({ step, hasGap, usesSummary, showsImages, state }: StepDone): number {
  // The agency may have got its first function after the run was admitted.
  if (step.hidden !== undefined) return JOURNAL_FORMAT_WITH_CONDITIONS;
  if (step.output.some((item) => item.kind === 'tool_output' && item.lasts !== undefined))
    return JOURNAL_FORMAT_WITH_LASTING;
  if (state !== null) return JOURNAL_FORMAT_WITH_STATE;
  if (showsImages) return JOURNAL_FORMAT_WITH_IMAGES;
  if (usesSummary || step.summary !== undefined) return JOURNAL_FORMAT_WITH_SUMMARIES;
  if (step.asks !== undefined) return JOURNAL_FORMAT_WITH_ACTIONS;
  return hasGap || step.replay !== undefined ? JOURNAL_FORMAT_WITH_FLOWS : JOURNAL_FORMAT;
}

/** T3: writes the journal record and all events up to it. A chunk ends exactly after the step's last event. */
export async function journalStep(tx: Tx, done: StepDone): Promise<void> {
  const { runId, chatKey, step } = done;
  // The chat's row is locked before the run's.
  const summarized = step.summary === undefined ? undefined : tx.run(setSummary, { chatKey, runId });
  const advanced = tx.run(advanceRun, {
    runId,
    attempt: step.attempt,
    step: done.begun,
    leastFormat: leastFormat(done),
    ...done.usage,
    byModelJson: JSON.stringify(done.byModel),
    firstTokenMs: done.firstTokenMs,
    startedAt: done.startedAt,
  });
  const cut = storeUnfinished(tx, runId, done.cut);
  const writes: (Promise<unknown> | undefined)[] = [
    advanced,
    storeStep(tx, runId, step),
    ...cut,
    storeChunks(tx, runId, done.chunks),
    summarized,
  ];
  if (done.state !== null && done.state.changed !== null) {
    const { changed } = done.state;
    writes.push(tx.run(storeState, { chatKey: done.chatKey, stateJson: stateJson(changed), agent: changed.agent }));
  }
  await Promise.all(writes);
  if ((await advanced) !== 1) throw RunLost.ofAttempt(runId, step.attempt);
}
