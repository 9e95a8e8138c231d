import { ModelFailure } from '@runwire/models';
import { FinishedSteps } from '../agent/finished-steps.ts';
import { runLoop } from '../agent/loop.ts';
import { joinInstructions } from '../agent/loop-setting.ts';
import { modelStep } from '../agent/model-step.ts';
import type { ModelStepInput } from '../agent/model-step-input.ts';
import { Progress, type ProgressWatcher } from '../agent/progress.ts';
import type { Publication } from '../agent/publication.ts';
import type { RecordedCalls } from '../agent/recorded-calls.ts';
import type { RunContinuation, RunLimits, RunScope } from '../agent/run-scope.ts';
import { StepGate } from '../agent/step-gate.ts';
import type { ScratchBlobs } from '../attachments/scratch-blobs.ts';
import type { Usage } from '../domain/model/usage.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import type { RunEventBody, ToolOutputItem } from '../domain/run/events.ts';
import { toWalked } from '../domain/run/rerun.ts';
import type { RunFailure } from '../domain/run/run-failure.ts';
import { AlreadyEnded, RunLost } from '../domain/run/run-lost.ts';
import type { RunEndStatus, RunError } from '../domain/run/run-state.ts';
import { isOwnStep, type Step } from '../domain/run/step.ts';
import type { RunLog } from '../eventlog/run-log.ts';
import { endRun } from '../runs/end-run.ts';
import { journalStep } from '../runs/journal.ts';
import { type KeptSteps, storeKeptSteps } from '../runs/kept-steps.ts';
import { type Logger, withFields } from '../telemetry/logger.ts';
import { RunTrace } from '../telemetry/run-trace.ts';
import { findContinuation, NO_CHAIN, readChain } from './chain.ts';
import { checkInput } from './check-input.ts';
import type { EngineDeps } from './deps.ts';
import { EventHold } from './event-hold.ts';
import { handOver } from './hand-over.ts';
import { findKept, keepSteps, keepStepsSoon } from './keep-steps.ts';
import type { PreparedAgency } from './prepared-agency.ts';
import { priceStep } from './price-step.ts';
import { publishStep } from './publish-step.ts';
import { readRecorded } from './read-recorded.ts';
import { readyPrompt } from './ready-prompt.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import { endEvents, INTERNAL_ERROR, reportEnd } from './run-end.ts';
import { RunTeam } from './run-team.ts';
import type { WatchedRun } from './run-watch.ts';
import { StepIds } from './step-ids.ts';
import type { StopHandle } from './stop-handle.ts';
import { makeSummary } from './summary-step.ts';
import { endOrphan } from './takeover/end-orphan.ts';
import { UnfinishedSteps } from './unfinished-steps.ts';
import { UsedAttachments } from './used-attachments.ts';
import { UsedImages } from './used-images.ts';

/** One attempt of a run on this node. */
export interface RunAttempt {
  readonly run: AdmittedRun;
  /** The version of the agency that the run keeps to its end; null if the agency cannot be loaded. */
  readonly prepared: PreparedAgency | null;
  readonly log: RunLog;
  readonly stop: StopHandle;
  readonly watched: WatchedRun;
  readonly scratch: ScratchBlobs;
}

const DONE = Promise.resolve();

/** One attempt while it is executed, and its models' metrics. */
class Execution implements RunAttempt, ProgressWatcher {
  readonly deps: EngineDeps;
  readonly run: AdmittedRun;
  readonly prepared: PreparedAgency | null;
  readonly log: RunLog;
  readonly stop: StopHandle;
  readonly watched: WatchedRun;
  readonly scratch: ScratchBlobs;
  readonly progress: Progress;
  readonly stepIds: StepIds;
  readonly unfinished: UnfinishedSteps;
  readonly hold: EventHold;
  kept: KeptSteps | null;
  readonly images: UsedImages;
  /** True if the prompt begins with a summary. */
  usesSummary = false;
  /** Resolves when every T3 that has begun is committed. */
  journalling = DONE;
  readonly #startedAt = performance.now();
  #hasOutput: boolean;
  #logger: Logger | null = null;
  /** Null if traces are off. */
  readonly trace: RunTrace | null;

  constructor(deps: EngineDeps, { run, prepared, log, stop, watched, scratch }: RunAttempt) {
    this.deps = deps;
    this.trace = traceAttempt(deps, run);
    this.run = this.trace === null ? run : { ...run, trace: { ...run.trace, trace_id: this.trace.traceId } };
    this.prepared = prepared;
    this.log = log;
    this.stop = stop;
    this.watched = watched;
    this.scratch = scratch;
    this.progress = beginProgress(run);
    this.progress.watcher = this;
    this.stepIds = new StepIds(log);
    this.unfinished = new UnfinishedSteps(stop, this.stepIds, deps.prices);
    this.hold = new EventHold(log);
    this.kept = findKept(run);
    this.images = new UsedImages(this);
    // An earlier attempt of a resumed run has reported its first output.
    this.#hasOutput = run.attempt > 1;
  }

  /** Adds the run to every line. Most runs log nothing by it. */
  get logger(): Logger {
    this.#logger ??= withFields(this.deps.logger, { runId: this.run.runId, ...this.run.trace });
    return this.#logger;
  }

  onFirstOutput(afterMs: number, model: string): void {
    const { metrics } = this.deps;
    metrics.firstOutput(model, afterMs);
    if (!this.#hasOutput) metrics.runFirstToken.observe(performance.now() - this.#startedAt);
    this.#hasOutput = true;
  }

  onCallEnd(durationMs: number, model: string, errorType: string | null): void {
    this.deps.metrics.calledModel(model, durationMs, errorType);
  }

  onUsage(usage: Usage, model: string): void {
    this.deps.metrics.usedTokens(model, usage);
  }
}

interface End {
  readonly status: RunEndStatus;
  readonly error: RunError | null;
  /** See `ModelFailure.providerStatus`. */
  readonly providerStatus: number | null;
  readonly lastStep: Step | null;
}

/**
 * Executes an admitted run up to its durable end:
 *
 *   start ──▶ attachments and prompt ready ──▶ steps (each is journalled, T3) ──▶ end (T4) ──▶ last events sent
 *     │                    │                        │
 *     └────────────────────┴── stopped ─────────────┤
 *                                                   ├─ cancelled, failed ──▶ end (T4)
 *                                                   ├─ refused ────────────▶ ended like an orphan (T6)
 *                                                   ├─ handed_over ────────▶ released: another node resumes it
 *                                                   ├─ shut_down ──────────▶ stays unfinished: resumed after the restart
 *                                                   └─ lost ───────────────▶ nothing: another node owns it
 *
 * Never rejects: the run ends, or stays unfinished and is taken over.
 */
export async function executeRun(deps: EngineDeps, attempt: RunAttempt): Promise<void> {
  const { run, log, stop } = attempt;
  const execution = new Execution(deps, attempt);
  keepStepsSoon(execution);
  log.onRefused = (error) => stop.now({ kind: 'refused', error });
  try {
    const end = await runSteps(execution);
    execution.trace?.end(typeof end === 'string' ? null : toTraceError(end));
    if (stop.reason?.kind === 'refused') throw stop.reason.error;
    if (end === 'hand over') await handOver(deps, run, log, stop);
    else if (end === 'leave') {
      // Stores what its readers have seen, as far as the store accepts it.
      await deps.eventLog.flushAll();
    } else await settle(execution, end);
  } catch (error) {
    execution.trace?.end(error instanceof RunLost ? 'lost' : 'internal_error');
    if (!(error instanceof RunLost) && stop.reason?.kind !== 'shut_down') await endRefused(execution, error);
  } finally {
    deps.eventLog.close(log);
  }
}

const traceAttempt = ({ tracing }: EngineDeps, run: AdmittedRun): RunTrace | null =>
  tracing === null ? null : new RunTrace(tracing, { ...run, traceparent: run.trace.traceparent });

/** A cancelled run has no code of its own. */
const toTraceError = ({ status, error }: End): string | null => error?.code ?? (status === 'cancelled' ? status : null);

function beginProgress({ agent, message, resumed }: AdmittedRun): Progress {
  const progress = new Progress();
  const timestamp = resumed === null ? progress.timestamp() : resumed.createdAt * 1000;
  progress.items.push({ kind: 'user', agent, text: message, timestamp });
  if (resumed !== null) progress.restore(resumed.steps, resumed.begun, resumed);
  return progress;
}

/**
 * Ends a run whose events the store refuses. It ends like an orphan: what is stored counts, and the rest is discarded. Its
 * readers are cut after the end is durable, so that a reader that reconnects finds it. The chat does not stay busy.
 */
async function endRefused(execution: Execution, error: unknown): Promise<void> {
  const { deps, run, log, stop, logger } = execution;
  log.abandon();
  logger.error({ err: error }, 'the store refuses the events of a run; the run ends with what is stored');
  try {
    await retryWhileUnavailable(deps, stop, () => endOrphan(deps, run.runId, INTERNAL_ERROR));
  } catch (again) {
    logger.fatal({ err: again }, 'the end of a run could not be stored; the next start of a server ends it');
  }
}

/** Resolves to how the run ends, or how it is left to another node. */
async function runSteps(execution: Execution): Promise<End | 'hand over' | 'leave'> {
  const { stop } = execution;
  try {
    const lastStep = await callAgent(execution);
    return { status: 'completed', error: null, providerStatus: null, lastStep };
  } catch (error) {
    if (error instanceof RunLost) throw error;
    const { reason } = stop;
    switch (reason?.kind) {
      case 'lost':
        throw RunLost.ofFencedNode();
      case 'shut_down':
        return reason.betweenSteps ? 'hand over' : 'leave';
      case 'refused':
        throw reason.error;
      case 'cancelled':
        return { status: 'cancelled', error: null, providerStatus: null, lastStep: null };
      case 'failed':
        return failedEnd(reason.failure);
      case 'handed_over':
        return 'hand over';
      case undefined:
        if (error instanceof ModelFailure && error.code !== 'internal_error') return failedEnd(error);
        execution.logger.error({ err: error }, 'a run failed because of an error in the server');
        return { status: 'failed', error: INTERNAL_ERROR, providerStatus: null, lastStep: null };
    }
  }
}

const failedEnd = ({ code, message, providerStatus }: RunFailure): End => ({
  status: 'failed',
  error: { code, message },
  providerStatus,
  lastStep: null,
});

/**
 * Makes the prompt ready and runs the agent. Resolves to the last step, which commits together with the end, or to null if
 * the run ends with questions.
 */
async function callAgent(execution: Execution): Promise<Step | null> {
  const { deps, run, log, stop, progress } = execution;
  const entryAgent = execution.prepared?.agent(run.agent) ?? null;
  const { steps = [], betweenSteps = false } = run.resumed ?? {};
  const trace = execution.trace?.agent(run.agent, entryAgent?.modelId ?? '', steps.length > 0, null) ?? null;
  using team = new RunTeam(deps, execution);
  const entry = await team.root();
  const addedInstructions = run.extras.instructions ?? '';
  // Every agent that hand-offs reach gets the same conversation.
  const shownTo = {
    instructions: joinInstructions(entry, addedInstructions),
    windowTokens: entry.reachedWindowTokens,
    tools: entry.modelTools,
    usesSummaries: execution.prepared?.agency.longChats.isSummarized === true && !isAlone(run),
  };
  const { continuation } = run;
  const chain =
    continuation === null
      ? NO_CHAIN
      : await retryWhileUnavailable(deps, stop, () => readChain(deps.store.reads, run.chatKey, continuation));
  team.chain = chain.runIds;
  const parts = { entry: entryAgent, trace, journal: storeStep.bind(null, execution) };
  // A later attempt finds the summary with the chat, and so does a rerun.
  const isNew = !steps.some((step) => isOwnStep(step) && step.kind !== 'summary' && step.kind !== 'guardrail');
  const maySummarize = isNew && !steps.some(({ kind }) => kind === 'summary');
  const summarize = maySummarize ? makeSummary.bind(null, execution, parts) : undefined;
  const attachments = new UsedAttachments(execution);
  const checked = await checkInput(execution, entry, attachments, (step) => storeStep(execution, step));
  const ready = await readyPrompt(
    { ...deps, summarize },
    checked,
    chain,
    shownTo,
    { attachments, images: execution.images },
    stop,
  );
  const { prompt, earlierItems, laterMessages, turnsLeftOut } = ready;
  execution.usesSummary = ready.usesSummary;
  // Fetching and reading may have taken long, so this is the last chance to stop before the first call, which costs money.
  if (isNew) stop.stepDone(true);
  // Reported once: if a step is finished, an earlier attempt has reported it.
  if (turnsLeftOut > 0 && isNew) {
    log.append({ type: 'history_left_out', agent: run.agent, turns: turnsLeftOut });
  }
  const finished = new FinishedSteps(toWalked(steps, run.extras.rerun), betweenSteps, chain.steps);
  progress.modelSteps += finished.modelSteps;
  progress.handOffs = finished.handOffs;
  progress.follow(chain.steps, prompt);
  const recorded = readRecorded(run, chain.steps, steps);
  const continued = findContinuation(run, chain, laterMessages);
  const scope = new ExecutionScope(execution, { team, finished, continuation: continued, recorded });
  const root = { loop: '', callerAgent: null, depth: 0, agent: entry, addedInstructions, resultCheck: null };
  const start = { ...root, prompt, earlierItems, trace };
  return await runLoop(scope, start);
}

/** The model is asked about a text, and not in a chat. */
const isAlone = ({ extras: { rerun } }: AdmittedRun) => rerun?.eval?.alone === true;

interface ScopeParts {
  readonly team: RunTeam;
  readonly finished: FinishedSteps;
  readonly continuation: RunContinuation | null;
  readonly recorded: RecordedCalls | null;
}

/** The scope of the loops of one run. */
class ExecutionScope implements RunScope {
  readonly #execution: Execution;
  readonly team: RunTeam;
  readonly finished: FinishedSteps;
  readonly continuation: RunContinuation | null;
  readonly recorded: RecordedCalls | null;
  readonly gate: StepGate;

  constructor(execution: Execution, { team, finished, continuation, recorded }: ScopeParts) {
    this.#execution = execution;
    this.team = team;
    this.finished = finished;
    this.continuation = continuation;
    this.recorded = recorded;
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
    return storeStep(this.#execution, step);
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

/**
 * T3: stores a finished step with all events up to it. It writes the sums of the usage, so the T3s of parallel loops commit
 * in the order of their sums, also if the store was unavailable.
 */
async function storeStep(execution: Execution, step: Step): Promise<void> {
  const { deps, run, log, stop, progress, stepIds, unfinished, hold } = execution;
  // Asked again after each wait: another job may have begun to hold.
  for (let freed = hold.freed; freed !== null; freed = hold.freed) await freed;
  const { kept } = execution;
  execution.kept = null;
  const journalled = stepIds.journalled(priceStep(deps.prices, step));
  progress.settle(step);
  const totals = stepTotals(execution);
  const cut = unfinished.takeCut();
  const chunks = log.takeChunks();
  const store = () =>
    deps.store.transact('step', async (tx) => {
      if (kept !== null) await storeKeptSteps(tx, kept);
      await journalStep(tx, { runId: run.runId, step: journalled, ...totals, cut, chunks, startedAt: log.startedAt });
    });
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

/** Commits transaction T4, the run's end. The last events are delivered only after the commit. */
async function settle(execution: Execution, end: End): Promise<void> {
  const { deps, run, log, stop, progress, stepIds } = execution;
  const { status, error, providerStatus } = end;
  const unfinished = execution.unfinished.takeAll(end);
  const lastStep = end.lastStep === null ? null : stepIds.journalled(priceStep(deps.prices, end.lastStep));
  const { items, text, files, accepted, usage, byModel, steps } = progress;
  const output = status === 'completed' ? progress.output : null;
  const questions = status === 'completed' ? progress.questions : [];
  const outcome = {
    run,
    status,
    error,
    providerStatus,
    items,
    text,
    output,
    questions,
    files,
    accepted,
    usage,
    byModel,
    steps,
    firstTokenMs: progress.firstTokenMs(run.createdAt),
    continues: run.continuation !== null,
  };
  const { events, chunks } = log.prepare(endEvents(outcome));
  const { attempt } = run;
  const lastEventId = events.at(-1)?.id ?? 0;
  const record = { attempt, lastStep, unfinished, chunks, lastEventId, startedAt: log.startedAt };
  const { kept } = execution;
  execution.kept = null;
  if (run.rerunOf !== null) await execution.journalling;
  deps.waitAt?.('settle.before');
  await retryWhileUnavailable(deps, stop, () =>
    deps.store.transact('end', async (tx) => {
      if (kept !== null) await storeKeptSteps(tx, kept);
      return endRun(tx, deps, outcome, record);
    }),
  ).catch((cause: unknown) => {
    // An earlier try has committed, and the answer to its commit was lost.
    if (!(cause instanceof AlreadyEnded)) throw cause;
  });
  log.publish(events);
  deps.outbox.committed(run.integrationId);
  reportEnd(deps, outcome, { attempt, startedAt: run.resumed?.startedAt ?? log.startedAt });
  deps.waitAt?.('settle.after');
}
