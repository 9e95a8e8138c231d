import { ModelFailure } from '@runwire/models';
import { FinishedSteps } from '../agent/finished-steps.ts';
import { runLoop } from '../agent/loop.ts';
import { joinInstructions } from '../agent/loop-setting.ts';
import { RunState } from '../agent/run-state.ts';
import { type ChatState, EMPTY_STATE, parseState } from '../domain/chat/chat-state.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import { getBeginningAgent } from '../domain/run/beginning-agent.ts';
import { toWalked } from '../domain/run/rerun.ts';
import type { RunFailure } from '../domain/run/run-failure.ts';
import { AlreadyEnded, RunLost } from '../domain/run/run-lost.ts';
import type { RunEndStatus, RunError } from '../domain/run/run-state.ts';
import { inCommitOrder } from '../domain/run/state-steps.ts';
import { isOwnStep, type Step } from '../domain/run/step.ts';
import { endRun } from '../runs/end-run.ts';
import { stateAtStart } from '../store/queries/chat-states.ts';
import { first } from '../store/store.ts';
import { findContinuation, NO_CHAIN, readChain } from './chain.ts';
import { checkInput } from './check-input.ts';
import type { EngineDeps } from './deps.ts';
import { Execution, type RunAttempt } from './execution.ts';
import { ExecutionScope, storeStep } from './execution-scope.ts';
import { handOver } from './hand-over.ts';
import { keepSteps, keepStepsSoon } from './keep-steps.ts';
import { priceStep } from './price-step.ts';
import { readRecorded } from './read-recorded.ts';
import { readyPrompt } from './ready-prompt.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import { endEvents, INTERNAL_ERROR, reportEnd } from './run-end.ts';
import { RunTeam } from './run-team.ts';
import { makeSummary } from './summary-step.ts';
import { endOrphan } from './takeover/end-orphan.ts';
import { UsedAttachments } from './used-attachments.ts';

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

/** A cancelled run has no code of its own. */
const toTraceError = ({ status, error }: End): string | null => error?.code ?? (status === 'cancelled' ? status : null);

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
  const beginningAgent = getBeginningAgent(run, execution.prepared?.agency.agents);
  const entryAgent = execution.prepared?.agent(beginningAgent) ?? null;
  const { steps: known = [], betweenSteps = false } = run.resumed ?? {};
  const trace = execution.trace?.agent(beginningAgent, entryAgent?.modelId ?? '', known.length > 0, null) ?? null;
  const { continuation } = run;
  const chain =
    continuation === null
      ? NO_CHAIN
      : await retryWhileUnavailable(deps, stop, () => readChain(deps.store.reads, run.chatKey, continuation));
  const steps = toWalked(known, run.extras.rerun);
  const state = new RunState(() => readState(execution), { own: () => inCommitOrder(steps), earlier: chain.steps });
  using team = new RunTeam(deps, execution, state);
  team.chain = chain.runIds;
  const entry = await team.root();
  const addedInstructions = run.extras.instructions ?? '';
  // Every agent that hand-offs reach gets the same conversation.
  const shownTo = {
    instructions: joinInstructions(entry, addedInstructions),
    windowTokens: entry.reachedWindowTokens,
    tools: entry.modelTools,
    usesSummaries: execution.prepared?.agency.longChats.isSummarized === true && !isAlone(run),
  };
  const journal = (step: Step) => storeStep(execution, step, { changed: null, isUsed: state.isUsed });
  const parts = { entry: entryAgent, trace, journal };
  // A later attempt finds the summary with the chat, and so does a rerun.
  const isNew = !steps.some((step) => isOwnStep(step) && step.kind !== 'summary' && step.kind !== 'guardrail');
  const maySummarize = isNew && !steps.some(({ kind }) => kind === 'summary');
  const summarize = maySummarize ? makeSummary.bind(null, execution, parts) : undefined;
  const attachments = new UsedAttachments(execution);
  const checked = await checkInput(execution, entry, attachments, journal);
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
    log.append({ type: 'history_left_out', agent: beginningAgent, turns: turnsLeftOut });
  }
  const isBeginning = isNew && continuation === null && !steps.some(({ kind }) => kind === 'model');
  if (beginningAgent !== run.agent && isBeginning) {
    log.append({ type: 'agent_updated', agent: run.agent, callerAgent: null, newAgent: beginningAgent });
  }
  const finished = new FinishedSteps(steps, betweenSteps, chain.steps);
  progress.modelSteps += finished.modelSteps;
  progress.handOffs = finished.handOffs;
  progress.follow(chain.steps, prompt);
  const recorded = readRecorded(run, chain.steps, steps);
  const continued = findContinuation(run, chain, laterMessages);
  const shared = { team, finished, continuation: continued, recorded, state };
  const scope = new ExecutionScope(execution, shared);
  const root = { loop: '', callerAgent: null, depth: 0, agent: entry, addedInstructions, resultCheck: null };
  const start = { ...root, prompt, earlierItems, trace };
  return await runLoop(scope, start);
}

/** The model is asked about a text, and not in a chat. */
const isAlone = ({ extras: { rerun } }: AdmittedRun) => rerun?.eval?.alone === true;

/** Reads the chat's state at the run's start. A chat that the run's admission made has none. */
async function readState({ deps, run, stop }: Execution): Promise<ChatState> {
  if (run.isNewChat) return EMPTY_STATE;
  const read = () => first(deps.store.reads.all(stateAtStart, { chatKey: run.chatKey }));
  const row = await retryWhileUnavailable(deps, stop, read);
  return row === undefined ? EMPTY_STATE : parseState(row.state_json, row.agent);
}

/** Commits transaction T4, the run's end. The last events are delivered only after the commit. */
async function settle(execution: Execution, end: End): Promise<void> {
  const { deps, run, log, stop, progress, stepIds } = execution;
  const { status, error, providerStatus } = end;
  if (run.rerunOf !== null) {
    keepSteps(execution);
    await execution.journalling;
  }
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
    begins: run.extras.begins,
    continues: run.continuation !== null,
  };
  const { events, chunks } = log.prepare(endEvents(outcome));
  const { attempt } = run;
  const lastEventId = events.at(-1)?.id ?? 0;
  const record = { attempt, lastStep, unfinished, chunks, lastEventId, startedAt: log.startedAt };
  deps.waitAt?.('settle.before');
  await retryWhileUnavailable(deps, stop, () =>
    deps.store.transact('end', (tx) => endRun(tx, deps, outcome, record)),
  ).catch((cause: unknown) => {
    // An earlier try has committed, and the answer to its commit was lost.
    if (!(cause instanceof AlreadyEnded)) throw cause;
  });
  log.publish(events);
  deps.outbox.committed(run.integrationId);
  reportEnd(deps, outcome, { attempt, startedAt: run.resumed?.startedAt ?? log.startedAt });
  deps.waitAt?.('settle.after');
}
