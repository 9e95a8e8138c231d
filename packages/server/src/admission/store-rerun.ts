import { SourceChanged } from '../chats/fork/copy-chat.ts';
import type { StoredAttachment } from '../domain/attachment/attachment.ts';
import { EMPTY_STATE, parseState, stateJson } from '../domain/chat/chat-state.ts';
import type { ChatKey, RunId } from '../domain/ids.ts';
import { NO_USAGE } from '../domain/model/usage.ts';
import type { ResumePoint } from '../domain/run/admitted-run.ts';
import { stateAfter } from '../domain/run/state-steps.ts';
import { hasImages } from '../domain/run/step.ts';
import { copyKept } from '../runs/kept-steps.ts';
import { attachmentsOfRun, useBlobsOfChat } from '../store/queries/attachments.ts';
import { stateAtStart, storeState } from '../store/queries/chat-states.ts';
import { lostBlobOfChat } from '../store/queries/forks.ts';
import { copyAttachmentsOfRun, storeRerun } from '../store/queries/reruns.ts';
import { setSummary } from '../store/queries/summaries.ts';
import { copyToolImages } from '../store/queries/tool-images.ts';
import { first, type Tx } from '../store/store.ts';
import type { Rerun } from './completion-request.ts';

const lastStep = ({ steps }: Pick<Rerun, 'steps'>) => Math.max(0, ...steps.map(({ step }) => step));

/**
 * The writes of T1 for a rerun. The original chat's row is locked, so its copies are not deleted before the commit. The steps
 * that are kept follow with the first output (`storeKeptSteps`).
 */
export async function storeOriginal(
  tx: Tx,
  rerun: Rerun,
  {
    chatKey,
    runId,
    extrasJson,
  }: { readonly chatKey: ChatKey; readonly runId: RunId; readonly extrasJson: string | null },
): Promise<readonly StoredAttachment[]> {
  const { from, runId: original, afterStep, steps, hasAttachments } = rerun;
  await tx.run(storeRerun, { runId, rerunOf: original, afterStep, step: lastStep(rerun), extrasJson });
  await storeKeptState(tx, chatKey, steps);
  const summaries = steps.filter(({ kind }) => kind === 'summary');
  if (summaries.length > 0) {
    // The prompt is made with the chat's summary, which is read.
    const copied = await copyKept(tx, { runId, original, steps: summaries });
    if (copied !== summaries.length) throw new SourceChanged('The steps of the run were deleted.');
    await tx.run(setSummary, { chatKey, runId });
  }
  if (steps.some(hasImages)) await tx.run(copyToolImages, { from: original, runId, chatKey });
  if (!hasAttachments) return [];
  await tx.run(copyAttachmentsOfRun, { chatKey: from, from: original, forkKey: chatKey, runId });
  await tx.run(useBlobsOfChat, { chatKey });
  if ((await tx.all(lostBlobOfChat, { chatKey })).length > 0)
    throw new SourceChanged('A blob of the chat was deleted.');
  return tx.all(attachmentsOfRun, { chatKey, runId });
}

/** The fork has the state after the steps that the rerun keeps. */
async function storeKeptState(tx: Tx, chatKey: ChatKey, steps: Rerun['steps']): Promise<void> {
  if (steps.every(({ state }) => state === undefined)) return;
  const row = await first(tx.all(stateAtStart, { chatKey }));
  let state = row === undefined ? EMPTY_STATE : parseState(row.state_json, row.agent);
  for (const step of steps) state = stateAfter(state, step);
  await tx.run(storeState, { chatKey, stateJson: stateJson(state), agent: state.agent });
}

/** The write of T1 for an eval. Its run counts as its own original, so it is free like any rerun. */
export const storeEval = (tx: Tx, runId: RunId, extrasJson: string | null) =>
  tx.run(storeRerun, { runId, rerunOf: runId, afterStep: 0, step: 0, extrasJson });

/** A rerun walks the steps that it keeps as a takeover does. Null if it keeps none. */
export const toResumePoint = (rerun: Pick<Rerun, 'steps'>, now: number): ResumePoint | null =>
  rerun.steps.length === 0
    ? null
    : {
        steps: rerun.steps,
        begun: lastStep(rerun),
        usage: NO_USAGE,
        byModel: [],
        betweenSteps: true,
        createdAt: now,
        startedAt: now,
      };
