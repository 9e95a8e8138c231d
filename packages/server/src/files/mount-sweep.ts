import { Sweep } from '../lib/sweep.ts';
import { integrationsToEmpty, markFilesDeleted } from '../store/queries/accounts.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { MountStore } from './mount-store.ts';

export interface MountSweepOptions {
  readonly sweepMs: number;
  /** How long the files of a deleted integration stay, and what uploads that died have left. */
  readonly unusedBlobMs: number;
}

const BATCH = 1000;

/**
 * T7 of the mounts: the files of an integration that was deleted a day ago go, and what uploads that died have left.
 *
 * Not at once: a form that was signed before is valid for a quarter of an hour, and what comes by it straight to S3 nobody
 * here sees come. What was emptied is noted after it was: a sweep that dies begins again, and of several nodes each may do
 * the same.
 */
export class MountSweep extends Sweep {
  readonly #store: Store;
  readonly #mount: MountStore;
  readonly #options: MountSweepOptions;
  readonly #logger: Logger;

  constructor(store: Store, mount: MountStore, options: MountSweepOptions, logger: Logger) {
    super(options.sweepMs, 'files of integrations', logger);
    this.#store = store;
    this.#mount = mount;
    this.#options = options;
    this.#logger = logger;
  }

  /** Resolves to how many files and left-overs it deleted. */
  protected override async sweepOnce(): Promise<number> {
    const { unusedBlobMs } = this.#options;
    const rows = await this.#store.reads.all(integrationsToEmpty, { until: Date.now() - unusedBlobMs, limit: BATCH });
    let files = 0;
    for (const { integration_id: integrationId } of rows) {
      if (this.isClosed) return files;
      files += await this.#empty(integrationId);
    }
    if (files > 0) this.#logger.info({ files }, 'files of deleted integrations were deleted');
    return files + (await this.#mount.sweep(unusedBlobMs));
  }

  /** One that cannot be emptied now does not keep the others from it. */
  async #empty(integrationId: string): Promise<number> {
    try {
      const files = (await this.#mount.deleteFolder(integrationId, '')) ?? 0;
      await this.#store.transact('sweep', (tx) => tx.run(markFilesDeleted, { integrationId, now: Date.now() }));
      return files;
    } catch (error) {
      this.#logger.warn({ err: error, integrationId }, 'the files of a deleted integration stay until the next sweep');
      return 0;
    }
  }
}
