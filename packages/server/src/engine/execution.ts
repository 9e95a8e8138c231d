import { Progress, type ProgressWatcher } from '../agent/progress.ts';
import type { ScratchBlobs } from '../attachments/scratch-blobs.ts';
import type { Usage } from '../domain/model/usage.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import type { RunLog } from '../eventlog/run-log.ts';
import type { KeptSteps } from '../runs/kept-steps.ts';
import { type Logger, withFields } from '../telemetry/logger.ts';
import { RunTrace } from '../telemetry/run-trace.ts';
import type { EngineDeps } from './deps.ts';
import { EventHold } from './event-hold.ts';
import { findKept } from './keep-steps.ts';
import type { PreparedAgency } from './prepared-agency.ts';
import type { WatchedRun } from './run-watch.ts';
import { StepIds } from './step-ids.ts';
import type { StopHandle } from './stop-handle.ts';
import { UnfinishedSteps } from './unfinished-steps.ts';
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
export class Execution implements RunAttempt, ProgressWatcher {
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
  readonly images: UsedImages;
  /** See `keepSteps`. */
  kept: KeptSteps | null;
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
    this.images = new UsedImages(this);
    this.kept = findKept(run);
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

const traceAttempt = ({ tracing }: EngineDeps, run: AdmittedRun): RunTrace | null =>
  tracing === null ? null : new RunTrace(tracing, { ...run, traceparent: run.trace.traceparent });

function beginProgress({ agent, message, resumed }: AdmittedRun): Progress {
  const progress = new Progress();
  const timestamp = resumed === null ? progress.timestamp() : resumed.createdAt * 1000;
  progress.items.push({ kind: 'user', agent, text: message, timestamp });
  if (resumed !== null) progress.restore(resumed.steps, resumed.begun, resumed);
  return progress;
}
