import { sumCosts } from '../domain/model/cost.ts';
import { type Usage, usageFromRow } from '../domain/model/usage.ts';
import type { JournalledStep } from '../domain/run/step.ts';
import type { OnlyStepRow, StepRow } from '../store/queries/steps.ts';
import { readModels } from './stored-models.ts';

/** What the row of a run and its message do not have of its only step. */
type OnlyStep = readonly [
  model: string,
  firstEventId: number,
  lastEventId: number,
  startedAt: number,
  completedAt: number,
  /** This and the next one are absent in rows of earlier versions. */
  firstTokenMs?: number | null,
  promptBytes?: number,
];

/** An end that may contain the only step of its run. */
export interface OneStepEnd {
  readonly agent: string;
  readonly text: string;
  readonly steps: number;
  readonly usage: Usage;
  readonly lastStep: JournalledStep | null;
}

/**
 * The end of most runs is their only step, an answer in plain text. Such a step needs no row: that is two pages less to write.
 * Returns what the run's row stores of it, or null if the step is not exactly what the run and its message have.
 */
export function onlyStepJson({ agent, text, steps, usage, lastStep: step }: OneStepEnd): string | null {
  if (step === null || steps !== 1 || step.step !== 1 || step.model === null || step.usage === null) return null;
  if (step.kind !== 'model' || step.loop !== '' || step.indexInLoop !== 1 || step.status !== 'completed') return null;
  if (step.agent !== agent || step.callerAgent !== null || step.tool !== null || step.callId !== null) return null;
  const isPlain =
    step.replay === undefined &&
    step.tried === undefined &&
    step.asks === undefined &&
    step.asked === undefined &&
    step.guardrails === undefined &&
    step.hidden === undefined &&
    step.tries === undefined;
  if (!isPlain || step.files !== undefined || !isSameUsage(step.usage, usage)) return null;
  let message: string | null = null;
  for (const item of step.output) {
    if (item.kind === 'reasoning') continue;
    if (item.kind !== 'message' || message !== null) return null;
    message = item.text;
  }
  if (message !== text) return null;
  const { model, firstEventId, lastEventId, startedAt, completedAt, firstTokenMs = null, promptBytes } = step;
  const only = [model, firstEventId, lastEventId, startedAt, completedAt, firstTokenMs] as const;
  const whole: OnlyStep = promptBytes === undefined ? only : [...only, promptBytes];
  return JSON.stringify(whole);
}

function isSameUsage(one: Usage, other: Usage): boolean {
  return (
    one.requestCount === other.requestCount &&
    one.inputTokens === other.inputTokens &&
    one.cachedTokens === other.cachedTokens &&
    one.outputTokens === other.outputTokens &&
    one.reasoningTokens === other.reasoningTokens
  );
}

/** Rebuilds the step's row, without its output: that is the run's message. */
export function onlyStepRow(run: OnlyStepRow): StepRow | null {
  if (run.only_step_json === null) return null;
  const only = JSON.parse(run.only_step_json) as OnlyStep;
  const [model, firstEventId, lastEventId, startedAt, completedAt, firstTokenMs, promptBytes] = only;
  const usage = usageFromRow(run);
  const cost = sumCosts(readModels(run.by_model_json), run.currency);
  return {
    run_id: run.run_id,
    step: 1,
    attempt: run.attempt,
    kind: 'model',
    loop: '',
    index_in_loop: 1,
    agent: run.agent,
    caller_agent: null,
    model,
    tool: null,
    call_id: null,
    status: 'completed',
    first_event_id: firstEventId,
    last_event_id: lastEventId,
    record_json: JSON.stringify({
      usage,
      output: [],
      firstTokenMs: firstTokenMs ?? undefined,
      promptBytes,
      cost: cost ?? undefined,
    }),
    started_at: startedAt,
    completed_at: completedAt,
  };
}
