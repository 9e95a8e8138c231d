import type { Scope } from '../domain/account/scope.ts';
import { changesJson } from '../domain/chat/chat-state.ts';
import { changedFileJson } from '../domain/file/changed-file.ts';
import { numberBefore } from '../domain/list-cursor.ts';
import { costJson } from '../domain/model/cost.ts';
import { usageJson } from '../domain/model/usage.ts';
import { Refusal } from '../domain/refusal.ts';
import { type GuardrailRecord, getBlockReason } from '../domain/run/guardrail-record.ts';
import { toolImageJson } from '../domain/run/tool-image.ts';
import { iso } from '../domain/time.ts';
import type { LargeListQuery, LargePages } from '../store/large-pages.ts';
import type { RunRow } from '../store/queries/runs.ts';
import { chatSharingRun } from '../store/queries/shared-runs.ts';
import { onlyStepOfRun, stepSizes, stepsBefore } from '../store/queries/steps.ts';
import { first, type Reads } from '../store/store.ts';
import { onlyStepRow } from './only-step.ts';
import type { RunReads } from './read-runs.ts';
import { type ShownStep, settleWaiting, shownStep } from './shown-steps.ts';

export type StepQuery = LargeListQuery;

interface StepsDeps {
  readonly reads: Reads;
  readonly runReads: RunReads;
  readonly pages: LargePages;
}

/** Lists a run's finished steps and its calls that gave no result, newest first. */
export async function runSteps(
  { reads, runReads, pages }: StepsDeps,
  scope: Scope,
  requested: string,
  query: StepQuery,
) {
  const run = await runReads.row(scope, requested);
  const runId = run.run_id;
  await checkHasSteps(reads, run);
  const stored = await first(reads.all(onlyStepOfRun, { runId }));
  const only = stored === undefined ? null : onlyStepRow(stored);
  return pages.read(query, {
    // The outputs of calls are read, but shown only if the call failed.
    showsAll: false,
    sizes: ({ before, limit }) =>
      only === null
        ? reads.all(stepSizes, { runId, before: numberBefore(before), limit })
        : Promise.resolve(numberBefore(before) > only.step ? [{ created_at: only.step, id: '', bytes: 0 }] : []),
    rows: async ({ before, limit }) => {
      if (only !== null) return numberBefore(before) > only.step ? [shownStep(only)] : [];
      const rows = await reads.all(stepsBefore, { runId, before: numberBefore(before), limit });
      return settleWaiting(reads, rows.map(shownStep));
    },
    position: ({ step }) => ({ createdAt: step, id: '' }),
    show: (step) => JSON.stringify(stepJson(step, scope.member === null)),
  });
}

/** A fork keeps the steps of the runs whose messages it has. Throws `chat_not_found` if no chat has the run. */
export async function checkHasSteps(
  reads: Reads,
  { run_id: runId, chat_deleted_at: deletedAt }: RunRow,
): Promise<void> {
  const isDeleted = deletedAt !== null && (await first(reads.all(chatSharingRun, { runId }))) === undefined;
  if (isDeleted) throw new Refusal('chat_not_found', 'The chat of this run was deleted.');
}

/** `showsAll`: false for client tokens. */
export function stepJson({ answer, ...step }: ShownStep, showsAll: boolean) {
  const {
    usage,
    output,
    replay: _,
    asks: __,
    allows: _______,
    asked: ___,
    indexInLoop: ____,
    questionId: _____,
    promptBytes: ______,
    tried,
    tries = 1,
    error = null,
    files = [],
    loop,
    startedAt,
    completedAt,
    firstTokenMs = null,
    cost = null,
    arguments: changed = null,
    shownArguments = null,
    guardrails,
    hidden = [],
    summary,
    state = null,
    ...columns
  } = step;
  const [first] = output;
  return {
    ...columns,
    loop: loop === '' ? null : loop,
    arguments: changed,
    shownArguments,
    stateChanges: showsAll && state !== null ? changesJson(state) : null,
    guardrails: guardrailsJson(guardrails),
    hidden: hidden.map(({ kind, name }) => ({ kind, name })),
    // It has what tools returned, which client tokens do not see.
    summary: showsAll && summary !== undefined ? { turns: summary.turns, text: summary.text } : null,
    handoff: first?.kind === 'tool_output' ? (first.handoff ?? null) : null,
    files: files.map(changedFileJson),
    attachments: first?.kind === 'tool_output' ? (first.images ?? []).map(toolImageJson) : [],
    usage: usage === null ? null : usageJson(usage),
    firstTokenMs,
    // Costs are not for client tokens.
    cost: showsAll ? costJson(cost) : null,
    // A failed call's output is the error text that the model got.
    error: error ?? toError(step),
    tries,
    answeredBy: answer?.by ?? null,
    continuedBy: answer?.runId ?? null,
    startedAt: iso(startedAt),
    completedAt: iso(completedAt),
  };
}

function toError({ status, tried, guardrails, output }: Omit<ShownStep, 'answer'>) {
  if (tried !== undefined) return { code: 'output_invalid', message: tried.problem };
  if (status !== 'failed') return null;
  const reason = getBlockReason(guardrails?.decisions ?? []);
  if (reason !== null) return { code: 'guardrail_blocked', message: reason };
  return { code: 'tool_failed', message: output[0]?.text ?? '' };
}

const guardrailsJson = (record: GuardrailRecord | undefined) =>
  (record?.decisions ?? []).map(({ guardrail, on, verdict, reason = null, callId = null }) => ({
    name: guardrail,
    on,
    verdict,
    reason,
    callId,
  }));
