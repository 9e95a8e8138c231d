import { parseOwnJson } from '@runwire/lib/strict-json.ts';
import { unlessAborted } from '@runwire/lib/unless-aborted.ts';
import type { RunId } from '../../domain/ids.ts';
import type { ClientTool } from '../../domain/question/client-tool.ts';
import type { Settlement } from '../../domain/question/question.ts';
import { NO_TRACE, type RequestTrace } from '../../domain/request-trace.ts';
import { type AdmittedRun, admittedRun, runSettings } from '../../domain/run/admitted-run.ts';
import { getBeginningAgent } from '../../domain/run/beginning-agent.ts';
import { attemptBase, type RunEvent } from '../../domain/run/events.ts';
import { parseExtras, storedTraceparent } from '../../domain/run/run-extras.ts';
import { RunLost } from '../../domain/run/run-lost.ts';
import type { RunError } from '../../domain/run/run-state.ts';
import { isKnownJournal } from '../../domain/run/step.ts';
import { CommitUnknown } from '../../domain/unavailable.ts';
import { journalledStep } from '../../runs/journal.ts';
import { moveActiveRun, NO_MEMBER } from '../../store/queries/active-runs.ts';
import { attachmentsOfRun } from '../../store/queries/attachments.ts';
import { livePeer } from '../../store/queries/nodes.ts';
import {
  deleteChunksAfter,
  getJournal,
  lockOrphan,
  takeRun,
  type UnfinishedRun,
  unfinishedRun,
} from '../../store/queries/takeover.ts';
import { NODE_ALIVE, NODE_RELEASED, RELEASED_RUN } from '../../store/schema.ts';
import { first, type Tx } from '../../store/store.ts';
import type { ThisNode } from '../../store/this-node.ts';
import { type EndDeps, type EndedOrphan, reportEndedOrphan, writeEnd } from './end-orphan.ts';
import { inputEstimate } from './estimate-input.ts';
import { ORIGINAL_DELETED, readOriginal } from './original-run.ts';
import {
  lastKeptId,
  runIdentity,
  spentSoFar,
  storedEvents,
  storedMessage,
  storeOpening,
  voidItems,
  voidOutputs,
} from './stored-run.ts';

/*
 * This folder's words:
 *
 *   fence      to mark a silent node as dead, so that it can write nothing more
 *   orphan     an unfinished run whose node is dead, or whose node has released it
 *   take over  to claim an orphan for this node in one transaction (T6); its attempt grows by 1
 *   resume     to continue a run that was taken over, after the last step in its journal
 *   end        to write the end of an orphan that cannot be resumed
 *   leave      to leave an orphan to another node
 *
 *   running ──▶ orphan ──▶ taken over ─┬─▶ resumed: running again, here
 *                 ▲  │                 └─▶ ended: failed or cancelled
 *                 │  └──▶ left ─┐
 *                 └─────────────┘
 */

export interface TakeoverDeps extends EndDeps {
  /** The node that takes the run over. */
  readonly node: ThisNode;
  /** How many nodes may crash while they execute a run before it ends. */
  readonly maxAttempts: number;
  /** The time limit of a run whose integration has none. */
  readonly maxRunSeconds: number;
}

/** What became of an orphan. */
export type Takeover =
  | { readonly outcome: 'resumed'; readonly run: AdmittedRun }
  | { readonly outcome: 'ended' }
  /** `endsAt`: when a pass ends the run, in milliseconds since 1970. */
  | { readonly outcome: 'left'; readonly why: string; readonly endsAt?: number };

/** Another node was faster, or the run is no orphan any more. */
export const LEFT_TO_OTHERS: Takeover = { outcome: 'left', why: 'another node owns it, or a row is missing' };

const LEFT_TO_OTHER_VERSION: Takeover = {
  outcome: 'left',
  why: 'another version of the server started it, and a node of that version can resume it',
};

const leftUntilFixed = (endsAt: number): Takeover => ({
  outcome: 'left',
  why: 'its agency is broken. Fix its files, and start the server again unless `RUNWIRE_AGENCIES_WATCH` is `true`',
  endsAt,
});

type Decision = Takeover | { readonly outcome: 'ended'; readonly end: EndedOrphan };

/**
 * T6: takes an orphan over, after a restart or from another node. If several nodes try concurrently, one succeeds; the
 * others leave the run, or get `RunLost` or `AlreadyEnded`. After `closing` is aborted, it does not wait for a store that
 * is unavailable.
 */
export async function takeOver(deps: TakeoverDeps, runId: RunId, closing: AbortSignal): Promise<Takeover> {
  let decided = LEFT_TO_OTHERS as Decision;
  const outcome = await deps.store
    .transact('takeover', async (tx) => {
      decided = await decide(tx, deps, runId);
      return decided;
    })
    .catch(async (error: unknown) => {
      // If the commit happened after all, the run is this node's, and no other node would resume it.
      if (error instanceof CommitUnknown && (await unlessAborted(closing, error.happened).catch(() => false))) {
        return decided;
      }
      throw error;
    });
  if ('end' in outcome) reportEndedOrphan(deps, outcome.end);
  return outcome;
}

async function decide(tx: Tx, deps: TakeoverDeps, runId: RunId): Promise<Decision> {
  const locked = await tx.all(lockOrphan, { runId });
  // If several nodes share the store, the node that has the row locked takes the run over.
  if (deps.store.kind === 'postgres' && locked.length === 0) return LEFT_TO_OTHERS;
  const run = await first(tx.all(unfinishedRun, { runId }));
  if (run === undefined || run.node_dead === NODE_ALIVE) return LEFT_TO_OTHERS;
  // A node that released the run did not crash while it executed it.
  const wasReleased = run.node_id === RELEASED_RUN || run.node_dead === NODE_RELEASED;
  const crashes = run.crashes + (wasReleased ? 0 : 1);
  const original = await readOriginal(tx, run);
  const obstacle = obstacleTo(deps, run, crashes) ?? (original === 'deleted' ? ORIGINAL_DELETED : null);
  if (run.cancel_requested_at === null) {
    if (obstacle === null && original !== 'deleted')
      return { outcome: 'resumed', run: { ...(await resume(tx, deps, run, crashes)), original } };
    if (obstacle === OTHER_VERSION && (await hasPeers(tx, deps))) return LEFT_TO_OTHER_VERSION;
    if (obstacle === BROKEN_AGENCY) {
      const limitSeconds = getSettings(run).maxRunSeconds ?? deps.maxRunSeconds;
      const endsAt = (run.started_at ?? run.created_at) + limitSeconds * 1000;
      if (Date.now() < endsAt) {
        // Its readers get at least `meta`.
        await storedEvents(tx, deps, run);
        return leftUntilFixed(endsAt);
      }
      const passed = `its agency is broken, and its time limit of ${limitSeconds} s has passed.`;
      return { outcome: 'ended', end: await writeEnd(tx, deps, run, interrupted(passed)) };
    }
  }
  return { outcome: 'ended', end: await writeEnd(tx, deps, run, interrupted(obstacle ?? '')) };
}

/** A node of the version that wrote a journal of an unknown format can resume the run. Without other nodes, none can. */
async function hasPeers(tx: Tx, { store, node }: TakeoverDeps): Promise<boolean> {
  return store.kind === 'postgres' && (await tx.all(livePeer, { nodeId: node.nodeId })).length > 0;
}

export const interrupted = (obstacle: string): RunError => ({
  code: 'run_interrupted',
  message: `The server stopped during this run, and the run cannot continue: ${obstacle} Send the message again, with a new \`usageRequestId\`.`,
});

const OTHER_VERSION = 'another version of the server started it.';
const BROKEN_AGENCY = 'its agency is broken.';

/** Returns a sentence that explains why the run cannot be resumed here, or null if it can. */
function obstacleTo(deps: TakeoverDeps, run: UnfinishedRun, crashes: number): string | null {
  if (crashes >= deps.maxAttempts) return `its server died ${crashes === 1 ? 'once' : `${crashes} times`}.`;
  if (!isKnownJournal(run.journal_format)) return OTHER_VERSION;
  if (deps.agencies.find(run.agency)?.loaded === null) return BROKEN_AGENCY;
  const extras = parseExtras(run.extras_json);
  const agent = getBeginningAgent({ ...run, extras }, deps.agencies.find(run.agency)?.loaded?.agents);
  const ofEntry = deps.agencies.entryModel(run.agency, agent, run.integration_model);
  if (ofEntry === null) return `the agent \`${agent}\` no longer exists.`;
  const model = extras.rerun?.model ?? ofEntry;
  const isOwn = deps.agencies.agent(run.agency, agent)?.ownModels.has(model) === true;
  return isOwn || deps.models()(model) !== null ? null : `the model \`${model}\` no longer exists.`;
}

const getSettings = (run: UnfinishedRun) =>
  runSettings(
    run,
    { access: run.file_access, memberFolder: run.member_folder },
    { usageRequestId: run.usage_request_id, extras: parseExtras(run.extras_json) },
  );

const getSettlements = (run: UnfinishedRun) => parseOwnJson(run.answers_json ?? '[]') as Settlement[];

/** Claims the run for this node, discards the events after its last journalled step, and opens the next attempt. */
async function resume(tx: Tx, deps: TakeoverDeps, run: UnfinishedRun, crashes: number): Promise<AdmittedRun> {
  const runId = run.run_id;
  const attempt = run.attempt + 1;
  const rows = await tx.all(getJournal, { runId });
  const keptId = lastKeptId(run.attempt, rows);
  const journal = rows.map(journalledStep);
  const events = await storedEvents(tx, deps, run);
  const { message, sandboxFiles } = await storedMessage(tx, run);
  const { usage, byModel } = await spentSoFar(run, events, journal, inputEstimate(tx, deps, run, events));
  const changed = await tx.run(takeRun, {
    runId,
    attempt: run.attempt,
    nextAttempt: attempt,
    nodeId: deps.node.nodeId,
    crashes,
    ...usage,
    byModelJson: JSON.stringify(byModel),
  });
  if (changed !== 1) throw RunLost.ofAttempt(runId, run.attempt);
  await tx.run(moveActiveRun, { ...run, consumer_id: run.consumer_id ?? NO_MEMBER, nodeId: deps.node.nodeId });
  await tx.run(deleteChunksAfter, { runId, after: keptId });
  // The first chunk has `meta` together with the events that were appended before the first flush: only `meta` is kept.
  const [meta] = events;
  if (meta?.id === keptId) await storeOpening(tx, runId, meta);
  const id = attemptBase(attempt) + 1;
  const voided = voidItems(events, journal, keptId);
  const outputs = voidOutputs(events, keptId);
  const shown = {
    ...(voided.length === 0 ? {} : { voidItems: voided }),
    ...(outputs.length === 0 ? {} : { voidOutputs: outputs }),
  };
  const opening: RunEvent = { type: 'resumed', runId, attempt, discardAfter: keptId, ...shown, id };
  await storeOpening(tx, runId, opening);
  const attachments = await tx.all(attachmentsOfRun, { chatKey: run.chat_key, runId });
  const input = {
    ownerId: run.owner_id,
    message,
    attachments,
    sandboxFiles,
    userContext: run.user_context_json === null ? undefined : parseOwnJson(run.user_context_json),
    hasHistory: run.num_messages > 1,
    continuation: run.continues === null ? null : { runId: run.continues, settlements: getSettlements(run) },
    clientTools: run.client_tools_json === null ? [] : (parseOwnJson(run.client_tools_json) as ClientTool[]),
    extras: parseExtras(run.extras_json),
  };
  const resumed = {
    steps: journal,
    begun: run.step,
    usage,
    byModel,
    betweenSteps: run.node_id === RELEASED_RUN,
    createdAt: run.created_at,
    startedAt: run.started_at ?? run.created_at,
  };
  return admittedRun(runIdentity(run), getSettings(run), input, {
    trace: toStoredTrace(run.extras_json),
    attempt,
    nodeId: deps.node.nodeId,
    isNewChat: false,
    opening,
    isOpeningStored: true,
    resumed,
    original: null,
  });
}

/** The request's id is not stored, but the parent of the run's spans is. */
function toStoredTrace(extrasJson: string | null): RequestTrace {
  const traceparent = storedTraceparent(extrasJson);
  return traceparent === undefined ? NO_TRACE : { requestId: null, traceparent };
}
