import type { Progress } from '../agent/progress.ts';
import { changedFile, type Publication } from '../agent/publication.ts';
import { changedFiles } from '../domain/file/changed-file.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import { lastFrameId, type RunEventBody, type ToolOutputItem } from '../domain/run/events.ts';
import type { JournalledStep, Step } from '../domain/run/step.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import type { RunLog } from '../eventlog/run-log.ts';
import { lockFiles } from '../files/change-files.ts';
import { BlobGone, claimBlobs } from '../files/pending-blobs.ts';
import { NotPublished, publishChanges, TOO_LATE } from '../files/publish-changes.ts';
import { seenFiles } from '../files/seen-files.ts';
import { journalStep, type StepDone } from '../runs/journal.ts';
import { stepOfRun } from '../store/queries/steps.ts';
import type { Tx } from '../store/store.ts';
import type { EngineDeps } from './deps.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import type { StepIds } from './step-ids.ts';
import type { StopHandle } from './stop-handle.ts';

interface Publishing {
  readonly deps: EngineDeps;
  readonly run: AdmittedRun;
  readonly log: RunLog;
  readonly stop: StopHandle;
  readonly progress: Progress;
  readonly stepIds: StepIds;
}

/** What T3 writes besides the step and its events. */
type StepTotals = Pick<
  StepDone,
  'chatKey' | 'usage' | 'byModel' | 'begun' | 'hasGap' | 'usesSummary' | 'showsImages' | 'firstTokenMs'
>;

/** A finished step with its file changes. */
interface PublishedStep {
  readonly publication: Publication;
  readonly step: Step;
  readonly item: ToolOutputItem;
}

/** A step that waits for its commit. */
interface Draft {
  readonly publication: Publication;
  readonly step: JournalledStep;
  readonly done: StepDone;
}

/**
 * T3 of a step that changes files: one transaction writes the file rows, the step and its events. It may wait for other
 * changes to the same files, so it does not run on the writer, and the writer first stores all earlier events of the run.
 * Nothing may be appended to the log until this has ended. Resolves to a text for the model if nothing was changed.
 */
export async function publishStep(
  publishing: Publishing,
  totals: () => StepTotals,
  { publication, step: given, item }: PublishedStep,
): Promise<string | null> {
  const { deps, run, log, stop, progress, stepIds } = publishing;
  const files = publication.changes.map(changedFile);
  const step = { ...given, files };
  let isVisible = false;
  try {
    await storeEarlierEvents(publishing);
    const { events, chunks } = log.draft(getEvents(item, files));
    const last = events.at(-1);
    const journalled = stepIds.draft(step, last === undefined ? log.lastId : lastFrameId(last));
    progress.settle(step);
    // The transaction may change nothing, so the next T3 stores the calls that were cut.
    const done = { runId: run.runId, step: journalled, ...totals(), cut: [], chunks, startedAt: log.startedAt };
    const draft = { publication, step: journalled, done };
    await retryWhileUnavailable(deps, stop, () =>
      deps.store.transact('publish', (tx) => writeDraft(tx, deps, run, draft)),
    );
    isVisible = true;
    log.markedRunning = true;
    log.publish(events);
    stepIds.journalled(step);
    progress.items.push(item);
    progress.files = changedFiles([progress, step]);
    return null;
  } catch (error) {
    if (!(error instanceof NotPublished)) throw error;
    return error.message;
  } finally {
    // The last try may have committed although it failed: `discard` looks.
    if (!isVisible) await publication.discard();
  }
}

function getEvents(item: ToolOutputItem, files: NonNullable<Step['files']>): RunEventBody[] {
  const { agent, callerAgent, loop, callId } = item;
  const speaker = { agent, callerAgent, ...(loop === undefined ? {} : { loop }) };
  return [
    { type: 'run_item', name: 'tool_output', item },
    ...files.map((file): RunEventBody => ({ type: 'file_changed', ...speaker, callId, file })),
  ];
}

/** Rejects if the run stops before that: then nothing has been changed. */
async function storeEarlierEvents({ deps, log, stop }: Publishing): Promise<void> {
  await retryWhileUnavailable(deps, stop, async () => {
    stop.signal.throwIfAborted();
    await deps.eventLog.flushAll();
    stop.signal.throwIfAborted();
    if (log.wantsFlush) throw new StoreUnavailable('The events of the run are not stored yet.');
  });
}

async function writeDraft(tx: Tx, deps: EngineDeps, run: AdmittedRun, { publication, step, done }: Draft) {
  const { integrationId, chatKey, runId } = run;
  const integration = await lockFiles(tx, integrationId);
  // An earlier try has committed, and the answer to its commit was lost.
  if ((await tx.all(stepOfRun, { runId, step: step.step })).length > 0) return;
  const { changes, writtenAt, batch } = publication;
  try {
    if (batch !== null) await claimBlobs(tx, batch);
  } catch (error) {
    if (error instanceof BlobGone) throw new NotPublished(TOO_LATE);
    throw error;
  }
  const { fileQuotas: quotas } = deps;
  await publishChanges(tx, integration, { chatKey, seen: seenFiles(run), changes, writtenAt, quotas });
  await journalStep(tx, done);
}
