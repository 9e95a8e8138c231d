import { RUN_SECONDS_BY_SETTING } from '../../domain/admission.ts';
import { attemptBase, type RunEvent } from '../../domain/events.ts';
import { NO_TRACE } from '../../domain/request-trace.ts';
import { RunLost } from '../../domain/run-lost.ts';
import type { RunError } from '../../domain/run-state.ts';
import { sandboxFilesOf } from '../../domain/sandbox-file.ts';
import { isKnownJournal } from '../../domain/step.ts';
import { CommitUnknown } from '../../domain/unavailable.ts';
import { encodeChunk } from '../../eventlog/chunk-codec.ts';
import { parseOwnJson } from '../../lib/strict-json.ts';
import { unlessAborted } from '../../lib/unless-aborted.ts';
import { journalledStep } from '../../runs/journal.ts';
import { attachmentOf, attachmentsOfRun } from '../../store/queries/attachments.ts';
import { userMessageOfRun } from '../../store/queries/chats.ts';
import { insertChunk } from '../../store/queries/eventlog.ts';
import { livePeer } from '../../store/queries/nodes.ts';
import {
  deleteChunksAfter,
  journalOf,
  lockOrphan,
  takeRun,
  type UnfinishedRun,
  unfinishedRun,
} from '../../store/queries/takeover.ts';
import { NODE_ALIVE, NODE_RELEASED, RELEASED_RUN } from '../../store/schema.ts';
import { first, type Tx } from '../../store/store.ts';
import type { ThisNode } from '../../store/this-node.ts';
import type { EngineDeps } from '../deps.ts';
import type { AdmittedRun } from '../port.ts';
import { type EndReport, reportEnd } from '../report-end.ts';
import { type EndDeps, promptParts, writeEnd } from './end-orphan.ts';
import { lastKeptId, spentSoFar } from './stored-run.ts';

export interface TakeOverDeps extends EndDeps, Pick<EngineDeps, 'model'> {
  /** The node that takes the run. */
  readonly node: ThisNode;
  /** How often a run may be begun by processes that then died. */
  readonly maxAttempts: number;
}

/**
 * T6: takes a run whose node is gone. Whoever takes it, this process after a restart or another node, takes it so; of
 * several that try at once one does, and the others find it taken, or meet `RunLost` or `AlreadyEnded`. Once `closing`
 * is aborted it does not wait for a store that is away.
 */
export async function takeOver(deps: TakeOverDeps, runId: string, closing: AbortSignal): Promise<Taken> {
  let made: Taken = {};
  const transaction = async (tx: Tx): Promise<Taken> => {
    const locked = await tx.all(lockOrphan, { runId });
    // Where several nodes share the store, whoever has the row locked takes the run.
    if (deps.store.kind === 'postgres' && locked.length === 0) return {};
    const run = await first(tx.all(unfinishedRun, { runId }));
    if (run === undefined || run.node_dead === NODE_ALIVE) return {};
    // A node that let go of its runs in good order did not crash on them.
    const wasLetGo = run.node_id === RELEASED_RUN || run.node_dead === NODE_RELEASED;
    const crashes = run.crashes + (wasLetGo ? 0 : 1);
    const obstacle = obstacleTo(deps, run, crashes);
    if (run.cancel_requested_at === null) {
      if (obstacle === null) return { resumed: await goOn(tx, deps, run, crashes) };
      if (obstacle === OTHER_VERSION && (await hasPeers(tx, deps))) return { isOthers: true };
    }
    return { ended: await writeEnd(tx, deps, run, interrupted(obstacle ?? '')) };
  };
  const taken = await deps.store
    .transact('takeover', async (tx) => {
      made = await transaction(tx);
      return made;
    })
    .catch(async (error: unknown) => {
      // A run that was taken after all is not left lying.
      if (error instanceof CommitUnknown && (await unlessAborted(closing, error.happened).catch(() => false))) {
        return made;
      }
      throw error;
    });
  if (taken.ended !== undefined) reportEnd(deps, taken.ended);
  return taken;
}

/**
 * "a journal of an unknown format is not taken": a node of the version that wrote it can go on. Where this one is alone
 * nobody can.
 */
async function hasPeers(tx: Tx, { store, node }: TakeOverDeps): Promise<boolean> {
  return store.kind === 'postgres' && (await tx.all(livePeer, { nodeId: node.nodeId })).length > 0;
}

/** What became of a run: it goes on here, or was ended here; neither: another has it, or its rows are not whole. */
export interface Taken {
  /** It is left to nodes of another version. */
  readonly isOthers?: true;
  readonly resumed?: AdmittedRun;
  readonly ended?: EndReport;
}

export const interrupted = (obstacle: string): RunError => ({
  code: 'run_interrupted',
  message: `The server stopped during this run, and the run cannot continue: ${obstacle} Send the message again, with a new \`usageRequestId\`.`,
});

const OTHER_VERSION = 'another version of the server started it.';

/** Why the run cannot go on here, in a sentence; null where it can. */
function obstacleTo(deps: TakeOverDeps, run: UnfinishedRun, crashes: number): string | null {
  if (crashes >= deps.maxAttempts) return `its server died ${crashes === 1 ? 'once' : `${crashes} times`}.`;
  if (!isKnownJournal(run.journal_format)) return OTHER_VERSION;
  const agent = deps.agencies.agent(run.agency, run.agent);
  if (agent === null) return `the agent \`${run.agent}\` no longer exists.`;
  return deps.model(agent.model) === null ? `the model \`${agent.model}\` no longer exists.` : null;
}

async function goOn(tx: Tx, deps: TakeOverDeps, run: UnfinishedRun, crashes: number): Promise<AdmittedRun> {
  const runId = run.run_id;
  const attempt = run.attempt + 1;
  const journal = await tx.all(journalOf, { runId });
  const keptId = lastKeptId(run.attempt, journal);
  const stored = await deps.eventLog.allStored(tx, runId);
  const said = await first(tx.all(userMessageOfRun, { chatKey: run.chat_key, runId }));
  const message = said === undefined ? '' : (JSON.parse(said.content_json) as string);
  const sandboxFiles = sandboxFilesOf(said?.sandbox_files_json ?? null);
  const { usage, byModel } = spentSoFar(run, promptParts(deps, run, message, sandboxFiles), stored, keptId);
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
  await tx.run(deleteChunksAfter, { runId, after: keptId });
  const id = attemptBase(attempt) + 1;
  const opening: RunEvent = { type: 'resumed', runId, attempt, discardAfter: keptId, id };
  await tx.run(insertChunk, { runId, firstId: id, lastId: id, data: encodeChunk([opening]) });
  const attachments = await tx.all(attachmentsOfRun, { chatKey: run.chat_key, runId });
  return {
    runId,
    trace: NO_TRACE,
    attempt,
    ownerId: run.owner_id,
    integrationId: run.integration_id,
    consumerId: run.consumer_id,
    chatKey: run.chat_key,
    chatId: run.chat_id,
    agency: run.agency,
    agent: run.agent,
    message,
    attachments: attachments.map(attachmentOf),
    sandboxFiles,
    hasHistory: run.num_messages > 1,
    userContext: run.user_context_json === null ? undefined : parseOwnJson(run.user_context_json),
    day: run.day,
    maxRunSeconds: run.max_run_seconds === RUN_SECONDS_BY_SETTING ? null : run.max_run_seconds,
    onDisconnect: run.on_disconnect,
    keepAttachments: run.keep_attachments === 1,
    opening,
    resumed: {
      steps: journal.map(journalledStep),
      usage,
      byModel,
      betweenSteps: run.node_id === RELEASED_RUN,
      createdAt: run.created_at,
      startedAt: run.started_at ?? run.created_at,
    },
  };
}
