import { runAgent } from '../agent/loop.ts';
import { Progress } from '../agent/progress.ts';
import { fileTools } from '../agent/tools/file-tools.ts';
import { RunAttachments } from '../attachments/run-attachments.ts';
import type { ScratchBlobs } from '../attachments/scratch-blobs.ts';
import type { RunEventBody } from '../domain/events.ts';
import { RunFailure } from '../domain/run-failure.ts';
import { AlreadyEnded, RunLost } from '../domain/run-lost.ts';
import type { RunEndStatus, RunError } from '../domain/run-state.ts';
import type { Step } from '../domain/step.ts';
import type { RunLog } from '../eventlog/run-log.ts';
import { endRun } from '../runs/end-run.ts';
import { journalStep } from '../runs/journal.ts';
import { withFields } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { EngineDeps } from './deps.ts';
import { endEvents } from './end-events.ts';
import { handOver } from './hand-over.ts';
import type { AdmittedRun } from './port.ts';
import { readyPrompt } from './ready-prompt.ts';
import { reportEnd } from './report-end.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import type { WatchedRun } from './run-watch.ts';
import { StepIds } from './step-ids.ts';
import type { StopHandle } from './stop-handle.ts';
import { endOrphan } from './takeover/end-orphan.ts';

interface Outcome {
  readonly status: RunEndStatus;
  readonly error: RunError | null;
  /** See `RunFailure.providerStatus`. */
  readonly providerStatus: number | null;
  readonly lastStep: Step | null;
}

/** From an admitted run to its durable end. Never rejects: whatever happens, the run ends, or is left to be taken over. */
export async function executeRun(
  engine: EngineDeps,
  run: AdmittedRun,
  log: RunLog,
  stop: StopHandle,
  watched: WatchedRun,
  scratch: ScratchBlobs,
): Promise<void> {
  const deps = { ...engine, logger: withFields(engine.logger, { runId: run.runId, ...run.trace }) };
  const progress = beginProgress(run);
  measure(progress, run, deps.metrics);
  const steps = new StepIds(log);
  log.onRefused = (error) => stop.refuse(error);
  try {
    const outcome = await attempt(deps, run, log, stop, watched, scratch, progress, steps);
    stop.throwIfRefused();
    // A run that was cancelled at the last moment ends here, as it would on the node that takes it over.
    if (stop.isHandedOver && outcome.status === 'failed') return await handOver(deps, run, log, stop);
    if (stop.isShutDown && outcome.status !== 'completed') {
      // What its readers saw is kept, as far as the store takes it.
      await deps.eventLog.flushAll();
      return;
    }
    await settle(deps, run, log, stop, progress, outcome, steps);
  } catch (error) {
    if (!(error instanceof RunLost) && !stop.isShutDown) await giveUp(deps, run, log, stop, error);
  } finally {
    deps.eventLog.close(log);
  }
}

function beginProgress({ agent, message, resumed }: AdmittedRun): Progress {
  const progress = new Progress();
  const timestamp = resumed === null ? progress.timestamp() : resumed.createdAt * 1000;
  progress.items.push({ kind: 'user', agent, text: message, timestamp });
  if (resumed !== null) progress.restore(resumed.steps, resumed.usage, resumed.byModel);
  return progress;
}

function measure(progress: Progress, { resumed }: AdmittedRun, metrics: Metrics): void {
  const startedAt = performance.now();
  // The earlier attempt of a resumed run has had its first output.
  let isFirst = resumed === null;
  progress.onFirstOutput = (afterMs, model) => {
    metrics.firstOutput(model, afterMs);
    if (isFirst) metrics.runFirstToken.observe(performance.now() - startedAt);
    isFirst = false;
  };
  progress.onUsage = (usage, model) => metrics.usedTokens(model, usage);
}

const INTERNAL_ERROR: RunError = {
  code: 'internal_error',
  message: 'The run failed because of an error in the server; the server log has the details.',
};

/**
 * The store refuses the events of this run. The run ends like a run whose process died: what is stored counts, and the
 * rest is void. Its readers are cut after the end is durable, so that a reader that reconnects finds it. No chat stays busy.
 */
async function giveUp(
  deps: EngineDeps,
  run: AdmittedRun,
  log: RunLog,
  stop: StopHandle,
  error: unknown,
): Promise<void> {
  log.abandon();
  deps.logger.error({ err: error }, 'a run cannot be stored and is ended');
  try {
    await retryWhileUnavailable(deps, stop, () => endOrphan(deps, run.runId, INTERNAL_ERROR));
  } catch (again) {
    deps.logger.fatal({ err: again }, 'the end of a run cannot be stored; the next start will end it');
  }
}

async function attempt(
  deps: EngineDeps,
  run: AdmittedRun,
  log: RunLog,
  stop: StopHandle,
  watched: WatchedRun,
  scratch: ScratchBlobs,
  progress: Progress,
  steps: StepIds,
): Promise<Outcome> {
  try {
    const agent = deps.agencies.agent(run.agency, run.agent);
    const model = agent === null ? null : deps.model(agent.model);
    if (agent === null || model === null) {
      const missing = agent === null ? `agent \`${run.agent}\`` : `model \`${agent.model}\``;
      throw new RunFailure('internal_error', `The ${missing} does not exist.`);
    }
    const tools = agent.files ? [...agent.tools, ...fileTools(deps.files(run.integrationId))] : agent.tools;
    const attachments = new RunAttachments(
      deps,
      {
        ...run,
        takesPdf: model.takesPdf === true,
        signal: stop.signal,
        retry: (job) => retryWhileUnavailable(deps, stop, job),
      },
      scratch,
    );
    const { prompt, turnsLeftOut } = await readyPrompt(deps, run, { ...agent, tools }, attachments, stop);
    const finished = run.resumed?.steps ?? [];
    // Fetching and reading may have taken long. The first call may take longer, and costs.
    if (finished.length === 0) stop.stepDone(true);
    // Told once: behind a finished step, an earlier attempt has told it.
    if (turnsLeftOut > 0 && finished.length === 0)
      log.append({ type: 'history_left_out', agent: run.agent, turns: turnsLeftOut });
    const lastStep = await runAgent({
      runId: run.runId,
      attempt: run.attempt,
      agent: agent.definition,
      tools,
      model: watched.guard(model),
      prompt,
      finished,
      leftBetweenSteps: run.resumed?.betweenSteps ?? false,
      userContext: run.userContext,
      maxSteps: deps.maxSteps,
      progress,
      room: log,
      signal: stop.signal,
      mayCall: () => deps.mayCall?.(stop.signal) ?? null,
      emit(event) {
        watched.heard();
        log.append(event);
      },
      async journal(step) {
        const done = steps.journalled(step);
        const chunks = log.takeChunks();
        await retryWhileUnavailable(deps, stop, () =>
          deps.store.transact('step', (tx) =>
            journalStep(tx, {
              runId: run.runId,
              step: done,
              usage: progress.usage,
              byModel: progress.byModel,
              begun: progress.steps,
              chunks,
              startedAt: log.startedAt,
            }),
          ),
        );
        log.markedRunning = true;
        log.acknowledge(chunks.at(-1)?.lastId ?? 0);
      },
      stopHere: (mayHandOver) => stop.stepDone(mayHandOver),
    });
    return { status: 'completed', error: null, providerStatus: null, lastStep };
  } catch (error) {
    if (error instanceof RunLost) throw error;
    if (stop.isLost) throw RunLost.ofFencedNode();
    stop.throwIfRefused();
    if (stop.cancelled) return { status: 'cancelled', error: null, providerStatus: null, lastStep: null };
    const failure = stop.failure ?? error;
    if (failure instanceof RunFailure && (failure === stop.failure || failure.code !== 'internal_error')) {
      const { code, message, providerStatus } = failure;
      return { status: 'failed', error: { code, message }, providerStatus, lastStep: null };
    }
    if (!stop.isLeft) deps.logger.error({ err: error }, 'a run failed because of an error in the server');
    return { status: 'failed', error: INTERNAL_ERROR, providerStatus: null, lastStep: null };
  }
}

/** T4, then the last events: "only then are they sent". */
async function settle(
  deps: EngineDeps,
  run: AdmittedRun,
  log: RunLog,
  stop: StopHandle,
  progress: Progress,
  outcome: Outcome,
  steps: StepIds,
): Promise<void> {
  const lastStep = outcome.lastStep === null ? null : steps.journalled(outcome.lastStep);
  const bodies: RunEventBody[] = endEvents({
    runId: run.runId,
    chatId: run.chatId,
    status: outcome.status,
    error: outcome.error,
    items: progress.items,
    usage: progress.usage,
  });
  const { events, chunks } = log.prepare(bodies);
  deps.waitAt?.('settle.before');
  await retryWhileUnavailable(deps, stop, () =>
    deps.store.transact('end', (tx) =>
      endRun(tx, {
        runId: run.runId,
        integrationId: run.integrationId,
        consumerId: run.consumerId,
        chatKey: run.chatKey,
        agent: run.agent,
        day: run.day,
        attempt: run.attempt,
        nextAttempt: run.attempt,
        status: outcome.status,
        error: outcome.error,
        text: progress.text,
        accepted: progress.accepted,
        usage: progress.usage,
        byModel: progress.byModel,
        prices: deps.prices,
        steps: progress.steps,
        lastStep,
        chunks,
        lastEventId: events.at(-1)?.id ?? 0,
        startedAt: log.startedAt,
      }),
    ),
  ).catch((error: unknown) => {
    // The answer to an earlier try's commit was lost.
    if (!(error instanceof AlreadyEnded)) throw error;
  });
  log.publish(events);
  const { runId, trace, integrationId, consumerId, attempt } = run;
  const { status, error, providerStatus } = outcome;
  reportEnd(deps, {
    runId,
    trace,
    integrationId,
    consumerId,
    attempt,
    model: deps.agencies.agent(run.agency, run.agent)?.model ?? null,
    providerStatus,
    status,
    error,
    usage: progress.usage,
    startedAt: run.resumed?.startedAt ?? log.startedAt,
  });
  deps.waitAt?.('settle.after');
}
