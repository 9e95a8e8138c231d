import { setTimeout as sleep } from 'node:timers/promises';
import type { Scope } from '../domain/account/scope.ts';
import type { RunId } from '../domain/ids.ts';
import { usageFromRow, usageJson } from '../domain/model/usage.ts';
import { type CancelMode, isFinished } from '../domain/run/run-state.ts';
import type { WaitAt } from '../domain/wait-points.ts';
import { type Notifier, nextHint } from '../store/notifier.ts';
import { requestCancel } from '../store/queries/runs.ts';
import type { Store } from '../store/store.ts';
import type { RunReads } from './read-runs.ts';

/** How often a run's end on another node is looked up if no hint arrives. */
const POLL_MS = 250;

export interface CancelDeps {
  readonly store: Store;
  readonly runReads: RunReads;
  /** Stops the run if this node executes it; otherwise returns false. */
  readonly signalStop: (runId: RunId, mode: CancelMode) => boolean;
  readonly ended: (runId: RunId) => Promise<void> | null;
  /** Null if there are no other nodes that could execute the run. */
  readonly elsewhere: Notifier | null;
  readonly patienceMs: number;
  readonly waitAt: WaitAt | undefined;
}

/**
 * Cancels exactly that run, from any node. First the intent becomes durable (T5), then the run is stopped, here or by a
 * hint to its node, then its end is awaited.
 */
export async function cancelRun(deps: CancelDeps, scope: Scope, requested: string, mode: CancelMode) {
  const before = await deps.runReads.row(scope, requested);
  const runId = before.run_id;
  const until = performance.now() + deps.patienceMs;
  if (!isFinished(before.status)) {
    deps.waitAt?.('cancel-intent.before');
    const changed = await deps.store.transact('cancel', (tx) =>
      tx.run(requestCancel, { runId, mode, now: Date.now() }),
    );
    deps.waitAt?.('cancel-intent.after');
    if (changed === 1) {
      const ended = deps.ended(runId);
      deps.signalStop(runId, mode);
      if (ended !== null) await withPatience(ended, until - performance.now());
    }
  }
  let row = await deps.runReads.row(scope, runId);
  while (deps.elsewhere !== null && !isFinished(row.status) && performance.now() < until) {
    await nextHint(deps.elsewhere, 'log', Math.min(POLL_MS, until - performance.now()));
    row = await deps.runReads.row(scope, runId);
  }
  const finished = isFinished(row.status);
  return {
    runId,
    chatId: row.chat_id,
    status: finished ? row.status : 'cancelling',
    cancelled: row.status === 'cancelled',
    usage: finished ? usageJson(usageFromRow(row)) : null,
  };
}

async function withPatience(ended: Promise<void>, patienceMs: number): Promise<void> {
  const patience = new AbortController();
  await Promise.race([ended, sleep(patienceMs, undefined, { signal: patience.signal }).catch(() => {})]);
  patience.abort();
}
