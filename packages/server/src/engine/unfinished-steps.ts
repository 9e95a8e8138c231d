import { ModelFailure } from '@runwire/models';
import type { RunError } from '../domain/run/run-state.ts';
import type { UnfinishedCall, UnfinishedStep, UnfinishedStepRecord } from '../domain/run/unfinished-step.ts';
import { INTERNAL_ERROR } from './run-end.ts';
import type { StepIds } from './step-ids.ts';
import type { StopHandle } from './stop-handle.ts';

type Status = Pick<UnfinishedStep, 'status'> & UnfinishedStepRecord;

const CANCELLED: Status = {
  status: 'cancelled',
  error: { code: 'cancelled', message: 'The run was cancelled during this call.' },
};

const NONE: readonly UnfinishedStep[] = [];

/** Collects an attempt's calls that gave no result, until the next T3 or the T4 stores them. */
export class UnfinishedSteps {
  readonly #stop: Pick<StopHandle, 'reason'>;
  readonly #stepIds: Pick<StepIds, 'journalled'>;
  /** Most runs have none. */
  #cut: UnfinishedStep[] | null = null;
  #waiting: UnfinishedStep[] | null = null;

  constructor(stop: Pick<StopHandle, 'reason'>, stepIds: Pick<StepIds, 'journalled'>) {
    this.#stop = stop;
    this.#stepIds = stepIds;
  }

  /** The call failed with this error, or the run stopped before its result. */
  cut(call: UnfinishedCall, error: unknown): void {
    this.#cut ??= [];
    this.#cut.push(this.#toStep(call, this.#toStatus(error)));
  }

  /** The call waits for an answer. It is stored with the end: a later attempt asks again. */
  wait(call: UnfinishedCall, questionId: string): void {
    this.#waiting ??= [];
    this.#waiting.push(this.#toStep(call, { status: 'waiting', error: null, questionId }));
  }

  takeCut(): readonly UnfinishedStep[] {
    const steps = this.#cut ?? NONE;
    this.#cut = null;
    return steps;
  }

  /** A run that does not complete asks nothing: its calls cannot be answered. */
  takeAll(end: { readonly status: string; readonly error: RunError | null }): readonly UnfinishedStep[] {
    const cut = this.takeCut();
    const waiting = this.#waiting ?? NONE;
    this.#waiting = null;
    if (waiting.length === 0 || end.status === 'completed') return waiting.length === 0 ? cut : [...cut, ...waiting];
    const status: Status = end.error === null ? CANCELLED : { status: 'failed', error: end.error };
    return [...cut, ...waiting.map(({ questionId: _, ...step }) => ({ ...step, ...status }))];
  }

  #toStep(call: UnfinishedCall, status: Status): UnfinishedStep {
    return this.#stepIds.journalled({ ...call, ...status, completedAt: Date.now() });
  }

  #toStatus(error: unknown): Status {
    const { reason } = this.#stop;
    if (reason?.kind === 'cancelled') return CANCELLED;
    const failure = reason?.kind === 'failed' ? reason.failure : error;
    if (!(failure instanceof ModelFailure)) return { status: 'failed', error: INTERNAL_ERROR };
    return { status: 'failed', error: { code: failure.code, message: failure.message } };
  }
}
