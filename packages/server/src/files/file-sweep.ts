import { Sweep } from '../lib/sweep.ts';
import { integrationsToEmpty, markFilesDeleted } from '../store/queries/accounts.ts';
import { deleteFormsOf, integrationsWithForms, oldForms } from '../store/queries/upload-forms.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { deleteBelow, OPEN_FORM_MS } from './change-files.ts';

export interface FileSweepOptions {
  readonly sweepMs: number;
  /** How long the files of a deleted integration and late uploads are kept. */
  readonly unusedBlobMs: number;
}

export interface FileSweepDeps {
  readonly store: Store;
  readonly logger: Logger;
  readonly settleUploads: (integrationId: string) => Promise<void>;
  /** Deletes what uploads left in S3 before `until`, too late for their forms. */
  readonly sweepDrops: (until: number) => Promise<number>;
}

const BATCH = 1000;
/** S3's clock may differ from ours, and a large upload takes time to appear. */
const FORM_SLACK_MS = 60_000;

/**
 * T7 for files: deletes the files of integrations that were deleted a day ago, and upload forms that are closed. If S3
 * receives the forms, it first publishes what arrived.
 */
export class FileSweep extends Sweep {
  readonly #deps: FileSweepDeps;
  readonly #options: FileSweepOptions;
  #sweptDropsAt = Number.NEGATIVE_INFINITY;

  constructor(deps: FileSweepDeps, options: FileSweepOptions) {
    super(options.sweepMs, 'files of integrations', deps.logger);
    this.#deps = deps;
    this.#options = options;
  }

  /** Resolves to the number of deleted files, forms and late uploads. */
  protected override async sweepOnce(): Promise<number> {
    // What S3 received before this moment and a form allows is settled first.
    const until = Date.now() - this.#options.unusedBlobMs;
    let count = await this.#sweepForms();
    count += await this.#sweepDeleted(until);
    if (performance.now() - this.#sweptDropsAt >= this.#options.unusedBlobMs) {
      const began = performance.now();
      count += await this.#deps.sweepDrops(until);
      this.#sweptDropsAt = began;
    }
    return count;
  }

  async #sweepForms(): Promise<number> {
    const { store, settleUploads } = this.#deps;
    const until = Date.now() - OPEN_FORM_MS - FORM_SLACK_MS;
    let count = 0;
    for (const { integration_id: integrationId } of await store.reads.all(integrationsWithForms, {})) {
      if (this.isClosed) break;
      await settleUploads(integrationId);
      // A read costs less than a commit, and most forms are still open.
      if ((await store.reads.all(oldForms, { integrationId, until })).length === 0) continue;
      count += await store.transact('sweep', (tx) => tx.run(deleteFormsOf, { integrationId, until }));
    }
    return count;
  }

  async #sweepDeleted(until: number): Promise<number> {
    const { store, logger } = this.#deps;
    let count = 0;
    for (const { integration_id: integrationId } of await store.reads.all(integrationsToEmpty, {
      until,
      limit: BATCH,
    })) {
      if (this.isClosed) break;
      count += await store.transact('sweep', async (tx) => {
        const now = Date.now();
        const deleted = await deleteBelow(tx, integrationId, '', now);
        await tx.run(markFilesDeleted, { integrationId, now });
        return deleted;
      });
    }
    if (count > 0) logger.info({ files: count }, 'files of deleted integrations were deleted');
    return count;
  }
}
