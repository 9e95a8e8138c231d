import type { FinishedSteps } from '../agent/finished-steps.ts';
import { modelStep } from '../agent/model-step.ts';
import type { ModelStepInput } from '../agent/model-step-input.ts';
import type { Progress } from '../agent/progress.ts';
import type { Publication } from '../agent/publication.ts';
import type { RecordedCalls } from '../agent/recorded-calls.ts';
import type { RunContinuation, RunLimits, RunScope } from '../agent/run-scope.ts';
import type { RunState } from '../agent/run-state.ts';
import { StepGate } from '../agent/step-gate.ts';
import type { ChatState } from '../domain/chat/chat-state.ts';
import type { RunEventBody, ToolOutputItem } from '../domain/run/events.ts';
import type { Step } from '../domain/run/step.ts';
import type { RunLog } from '../eventlog/run-log.ts';
import { journalStep } from '../runs/journal.ts';
import type { Execution } from './execution.ts';
import { keepSteps } from './keep-steps.ts';
import { priceStep } from './price-step.ts';
import { publishStep } from './publish-step.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import type { RunTeam } from './run-team.ts';
import type { UnfinishedSteps } from './unfinished-steps.ts';
import type { UsedImages } from './used-images.ts';

interface ScopeParts {
  readonly team: RunTeam;
  readonly finished: FinishedSteps;
  readonly continuation: RunContinuation | null;
  readonly recorded: RecordedCalls | null;
  readonly state: RunState;
}

/** The scope of the loops of one run. */
export class ExecutionScope implements RunScope {
  readonly #execution: Execution;
  readonly team: RunTeam;
  readonly finished: FinishedSteps;
  readonly continuation: RunContinuation | null;
  readonly recorded: RecordedCalls | null;
  readonly state: RunState;
  readonly gate: StepGate;

  constructor(execution: Execution, { team, finished, continuation, recorded, state }: ScopeParts) {
    this.#execution = execution;
    this.team = team;
    this.finished = finished;
    this.continuation = continuation;
    this.recorded = recorded;
    this.state = state;
    this.gate = new StepGate(execution.stop, finished);
  }

  get runId(): string {
    return this.#execution.run.runId;
  }

  get attempt(): number {
    return this.#execution.run.attempt;
  }

  get limits(): RunLimits {
    return this.#execution.prepared?.agency.limits ?? this.#execution.deps.loops;
  }

  get propagatesTrace(): boolean {
    return this.#execution.prepared?.agency.propagateTrace === true;
  }

  get userContext(): unknown {
    return this.#execution.run.userContext;
  }

  get progress(): Progress {
    return this.#execution.progress;
  }

  get room(): RunLog {
    return this.#execution.log;
  }

  get signal(): AbortSignal {
    return this.#execution.stop.signal;
  }

  readonly mayCall = (): Promise<void> | null => {
    const { deps, stop } = this.#execution;
    return deps.mayCall?.(stop.signal) ?? null;
  };

  emit(event: RunEventBody): void {
    // A tool that reports progress does not show that another agent's model is alive.
    if (event.type !== 'tool_progress') this.#execution.watched.heard();
    this.#execution.hold.emit(event);
  }

  modelStep(input: ModelStepInput): Promise<Step> {
    return modelStep(this, input);
  }

  get images(): UsedImages {
    return this.#execution.images;
  }

  get unfinished(): UnfinishedSteps {
    return this.#execution.unfinished;
  }

  journal(step: Step): Promise<void> {
    // Before any wait: the order of these calls is the order of the T3s.
    const changed = this.state.commit(step);
    return storeStep(this.#execution, step, { changed, isUsed: this.state.isUsed || changed !== null });
  }

  publish(publication: Publication, step: Step, item: ToolOutputItem): Promise<string | null> {
    const execution = this.#execution;
    return execution.hold.during(async () => {
      try {
        keepSteps(execution);
        await execution.journalling;
      } catch (error) {
        await publication.discard();
        throw error;
      }
      return publishStep(execution, () => stepTotals(execution), { publication, step, item });
    });
  }
}

interface StateUse {
  /** The chat's state after the step. Null if the step does not change it. */
  readonly changed: ChatState | null;
  readonly isUsed: boolean;
}

/**
 * T3: stores a finished step with all events up to it. It writes the sums of the usage, so the T3s of parallel loops commit
 * in the order of their sums, also if the store was unavailable.
 */
export async function storeStep(execution: Execution, step: Step, { changed, isUsed }: StateUse): Promise<void> {
  const { deps, run, log, stop, progress, stepIds, unfinished, hold } = execution;
  // Asked again after each wait: another job may have begun to hold.
  for (let freed = hold.freed; freed !== null; freed = hold.freed) await freed;
  keepSteps(execution);
  const journalled = stepIds.journalled(priceStep(deps.prices, step));
  progress.settle(step);
  const totals = stepTotals(execution);
  const cut = unfinished.takeCut();
  const chunks = log.takeChunks();
  const state = isUsed ? { changed } : null;
  const store = () =>
    deps.store.transact('step', (tx) =>
      journalStep(tx, { runId: run.runId, step: journalled, ...totals, cut, chunks, startedAt: log.startedAt, state }),
    );
  execution.journalling = execution.journalling.then(() => retryWhileUnavailable(deps, stop, store));
  await execution.journalling;
  log.markedRunning = true;
  log.acknowledge(chunks.at(-1)?.last_id ?? 0);
}

function stepTotals({ run, progress, images, usesSummary }: Execution) {
  const { usage, byModel } = progress.settled;
  const firstTokenMs = progress.firstTokenMs(run.createdAt);
  const hasGap = run.resumed !== null && run.resumed.begun > run.resumed.steps.length;
  const format = { hasGap, usesSummary, showsImages: images.isUsed };
  return { chatKey: run.chatKey, usage, byModel, begun: progress.steps, ...format, firstTokenMs };
}
