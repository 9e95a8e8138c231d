import { setTimeout as pause } from 'node:timers/promises';
import { Sweep } from '@runwire/lib/sweep.ts';
import type { Agencies } from '../../agencies/agencies.ts';
import type { LoadedAgency } from '../../agencies/loaded-agency.ts';
import type { ModelTool } from '../../agent/ports.ts';
import { firstRunId, type RunId } from '../../domain/ids.ts';
import {
  deleteDefinition,
  insertDefinition,
  moveDefinition,
  replacedDefinitions,
  runsFrom,
  seeDefinition,
  storedDefinition,
} from '../../store/queries/step-prompts.ts';
import { first, type Store } from '../../store/store.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { describeAgency } from './definition.ts';

const HOUR_MS = 3_600_000;
/** A version that no node has loaded for so long is examined. */
const REPLACED_MS = 24 * HOUR_MS;
/** Runs that are read in one turn, and turns for each version and sweep. */
const PAGE = 500;
const PAGES = 20;
const PAUSE_MS = 20;

interface SweepDeps {
  readonly store: Store;
  readonly agencies: Agencies;
  readonly commandTools: readonly ModelTool[];
  readonly logger: Logger;
}

/**
 * Stores definitions for the versions that this node has loaded. Deletes a definition if no run in an existing chat has it.
 * Run ids grow, so a search for such a run continues at its last row. Later sweeps read only the run that it found.
 */
export class DefinitionSweep extends Sweep {
  readonly #deps: SweepDeps;

  constructor(deps: SweepDeps, { sweepMs }: { readonly sweepMs: number }) {
    super(sweepMs, 'agency definitions', deps.logger);
    this.#deps = deps;
  }

  /** Called after agencies were loaded again. */
  sweepSoon(): void {
    this.sweep().catch((error: unknown) => {
      this.#deps.logger.warn({ err: error }, 'definitions of agencies could not be stored; the next sweep stores them');
    });
  }

  /** Resolves to how many definitions were deleted. */
  protected override async sweepOnce(): Promise<number> {
    const { store, agencies } = this.#deps;
    for (const { loaded } of agencies.list()) if (loaded !== null) await this.#keep(loaded);
    const before = Date.now() - REPLACED_MS;
    let deleted = 0;
    for (const one of await store.reads.all(replacedDefinitions, { before })) {
      if (this.isClosed) break;
      if (await this.#isUsed(one)) continue;
      deleted += await store.transact('sweep', (tx) => tx.run(deleteDefinition, { ...one, before }));
    }
    return deleted;
  }

  async #keep(loaded: LoadedAgency): Promise<void> {
    const { store, commandTools } = this.#deps;
    const { id: agency, version } = loaded;
    const now = Date.now();
    const known = await first(store.reads.all(storedDefinition, { agency, version }));
    if (known !== undefined && known.seen_at > now - HOUR_MS) return;
    await store.transact('sweep', (tx) =>
      known === undefined
        ? tx.run(insertDefinition, {
            agency,
            version,
            definition_json: JSON.stringify(describeAgency(loaded, commandTools)),
            seen_at: now,
            run_id: firstRunId(loaded.loadedAt),
          })
        : tx.run(seeDefinition, { agency, version, now }),
    );
  }

  /** True also if the search has not ended. */
  async #isUsed({ agency, version, run_id: stored }: OldVersion): Promise<boolean> {
    const { store } = this.#deps;
    let from: string = stored ?? '';
    for (let page = 0; page < PAGES && !this.isClosed; page += 1) {
      const runs = await store.reads.query(runsFrom(from, PAGE));
      const isOf = (run: (typeof runs)[number]) =>
        run.agency === agency && run.agency_version === version && run.deleted_at === null;
      const found = runs.find(isOf) ?? runs.at(-1);
      if (found !== undefined && found.run_id !== from) {
        from = found.run_id;
        const runId = found.run_id;
        await store.transact('sweep', (tx) => tx.run(moveDefinition, { agency, version, runId }));
      }
      if (found !== undefined && isOf(found)) return true;
      if (runs.length < PAGE) return false;
      await pause(PAUSE_MS);
    }
    return true;
  }
}

interface OldVersion {
  readonly agency: string;
  readonly version: string;
  readonly run_id: RunId | null;
}
