import { setTimeout as pause } from 'node:timers/promises';
import { Sweep } from '@runwire/lib/sweep.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { type ModelUsage, usageFromRow } from '../domain/model/usage.ts';
import { joinMeasuresJson } from '../domain/run/measures.ts';
import type { RunEndStatus } from '../domain/run/run-state.ts';
import { lockIntegrationForFiles } from '../store/queries/locks.ts';
import { type MemberDay, raiseMemberDay, raiseUsageHour } from '../store/queries/rollups.ts';
import {
  advanceWalk,
  deletedWithHours,
  deleteHours,
  endWalk,
  markCounted,
  queuedRuns,
  runToCount,
  type UncountedRun,
  uncountedOfWalk,
  unqueueRun,
  usageWalk,
  walkPage,
} from '../store/queries/uncounted.ts';
import { first, type Store, type Tx } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type CountedRun, memberDay, usageHours } from './count-run.ts';

/** Runs per transaction. On the embedded store nothing else happens during a page. */
const PAGE = 250;
/** Other work gets this time between two pages. */
const PAUSE_MS = 20;
/** The charge is already part of the allowance that the member has used. */
const NO_CHARGE = { runs: 0, tokens: 0, credits: 0 };

/**
 * Adds runs to the rollups that their end did not add: runs of earlier versions, by a walk over all run ids, and runs that a node
 * of an earlier version ended since then, from a queue. Each transaction adds a page and moves the position, so a crash counts
 * no run twice. Also deletes the rollups of deleted integrations.
 */
export class RollupSweep extends Sweep {
  readonly #store: Store;

  constructor(store: Store, periodMs: number, logger: Logger) {
    super(periodMs, 'usage rollups', logger);
    this.#store = store;
  }

  /** Resolves to the number of runs that were added. */
  protected override async sweepOnce(): Promise<number> {
    let count = 0;
    for (const countPage of [() => this.#countWalked(), () => this.#countQueued()]) {
      while (!this.isClosed) {
        const counted = await countPage();
        if (counted === null) break;
        count += counted;
        await pause(PAUSE_MS);
      }
    }
    for (const { integration_id: integrationId } of await this.#store.reads.all(deletedWithHours, {})) {
      await this.#store.transact('sweep', (tx) => tx.run(deleteHours, { integrationId }));
    }
    return count;
  }

  /** Resolves to null after the last run. */
  async #countWalked(): Promise<number | null> {
    const walk = await first(this.#store.reads.all(usageWalk, {}));
    if (walk === undefined) return null;
    const { after_run_id: after, last_run_id: last } = walk;
    const page = await this.#store.reads.all(walkPage, { after, last, limit: PAGE });
    const to = page.length < PAGE ? last : (page.at(-1)?.run_id ?? last);
    return this.#store.transact('sweep', async (tx) => {
      await lockIntegrations(tx, page);
      if ((await tx.run(advanceWalk, { from: after, to })) === 0) return 0;
      const runs = await tx.all(uncountedOfWalk, { after, to });
      await addToRollups(tx, runs);
      if (to === last) await tx.run(endWalk, { at: to });
      return runs.length;
    });
  }

  /** Resolves to null if the queue is empty. */
  async #countQueued(): Promise<number | null> {
    const page = await this.#store.reads.all(queuedRuns, { limit: PAGE });
    if (page.length === 0) return null;
    return this.#store.transact('sweep', async (tx) => {
      await lockIntegrations(tx, page);
      const runs: UncountedRun[] = [];
      for (const { run_id: runId } of page) {
        if ((await tx.run(markCounted, { runId })) === 1) runs.push(...(await tx.all(runToCount, { runId })));
        await tx.run(unqueueRun, { runId });
      }
      await addToRollups(tx, runs);
      return runs.length;
    });
  }
}

/** Keeps an erasure from replacing members of these runs until the transaction ends: it would miss their new rows. */
async function lockIntegrations(tx: Tx, page: readonly { readonly integration_id: IntegrationId }[]): Promise<void> {
  const ids = new Set(page.map(({ integration_id: integrationId }) => integrationId));
  for (const integrationId of [...ids].sort()) await tx.all(lockIntegrationForFiles, { integrationId });
}

async function addToRollups(tx: Tx, rows: readonly UncountedRun[]): Promise<void> {
  const days = new Map<string, MemberDay>();
  for (const row of rows) {
    const run = countedRun(row);
    for (const hour of usageHours(run)) await tx.run(raiseUsageHour, hour);
    const day = memberDay(run);
    if (day === null) continue;
    const key = JSON.stringify([day.integrationId, day.consumerId, day.day]);
    const known = days.get(key);
    days.set(key, known === undefined ? { ...day, ...NO_CHARGE } : addDays(known, day));
  }
  for (const day of days.values()) await tx.run(raiseMemberDay, day);
}

function addDays(a: MemberDay, b: Omit<MemberDay, keyof typeof NO_CHARGE>): MemberDay {
  return {
    ...a,
    requestCount: a.requestCount + b.requestCount,
    inputTokens: a.inputTokens + b.inputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    endedRuns: a.endedRuns + b.endedRuns,
    chargedRuns: a.chargedRuns + b.chargedRuns,
    chargedTokens: a.chargedTokens + b.chargedTokens,
    chargedCredits: a.chargedCredits + b.chargedCredits,
    newestRunId: a.newestRunId > b.newestRunId ? a.newestRunId : b.newestRunId,
    measuresJson: joinMeasuresJson(a.measuresJson, b.measuresJson),
  };
}

function countedRun(row: UncountedRun): CountedRun {
  return {
    run: {
      runId: row.run_id,
      integrationId: row.integration_id,
      consumerId: row.consumer_id,
      nodeId: row.node_id,
      agent: row.agent,
      agencyVersion: row.agency_version,
      day: row.day,
      createdAt: row.created_at,
      rerunOf: row.rerun_of,
    },
    status: row.status as RunEndStatus,
    errorCode: row.error_code,
    usage: usageFromRow(row),
    byModel: readModels(row.by_model_json),
    currency: row.currency,
    firstTokenMs: row.first_token_ms,
    completedAt: row.completed_at ?? row.created_at,
    charge: { runs: row.charged_runs ?? 0, tokens: row.charged_tokens ?? 0, credits: row.charged_credits ?? 0 },
  };
}

/** A run whose models cannot be read counts without models, so that it does not stop the sweep. */
function readModels(json: string): ModelUsage[] {
  try {
    const models: unknown = JSON.parse(json);
    return Array.isArray(models) ? models : [];
  } catch {
    return [];
  }
}
