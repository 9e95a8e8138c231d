import { Sweep } from '@runwire/lib/sweep.ts';
import { WHOLE_MOUNT } from '../domain/file/mount-path.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { noteLeftovers } from '../store/leftovers.ts';
import { integrationsToEmpty, markFilesDeleted } from '../store/queries/accounts.ts';
import { forgetFolders, integrationsWithFolders } from '../store/queries/folder-bytes.ts';
import { lockIntegrationForFiles } from '../store/queries/locks.ts';
import { forgetForms, integrationsWithForms, oldForms } from '../store/queries/upload-forms.ts';
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
  readonly settleUploads: (integrationId: IntegrationId) => Promise<void>;
  /** Deletes what uploads left in S3 before `until`, too late for their forms. */
  readonly sweepDrops: (until: number) => Promise<number>;
}

const BATCH = 1000;
const DAY_MS = 86_400_000;
/** S3's clock may differ from ours, and a large upload takes time to appear. */
const FORM_SLACK_MS = 60_000;

/**
 * T7 for files: deletes the files of integrations that were deleted a day ago, and upload forms that are closed. If S3
 * receives the forms, it first publishes what arrived. Once a day it forgets the sums of folders, because nodes of earlier
 * versions do not update them: the next check of a folder counts it again.
 */
export class FileSweep extends Sweep {
  readonly #deps: FileSweepDeps;
  readonly #options: FileSweepOptions;
  #sweptDropsAt = Number.NEGATIVE_INFINITY;
  #forgotFoldersAt = Number.NEGATIVE_INFINITY;

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
    if (this.#deps.store.kind === 'postgres' && performance.now() - this.#forgotFoldersAt >= DAY_MS) {
      await this.#forgetFolders();
      this.#forgotFoldersAt = performance.now();
    }
    return count;
  }

  async #forgetFolders(): Promise<void> {
    const { store } = this.#deps;
    for (let after = ''; !this.isClosed; ) {
      const page = await store.reads.all(integrationsWithFolders, { after, limit: BATCH });
      for (const { integration_id: integrationId } of page) {
        await store.transact('sweep', async (tx) => {
          await tx.all(lockIntegrationForFiles, { integrationId });
          await tx.run(forgetFolders, { integrationId });
        });
        after = integrationId;
      }
      if (page.length < BATCH) return;
    }
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
      count += await store.transact('sweep', async (tx) => {
        await noteLeftovers(store, tx, [integrationId]);
        return tx.run(forgetForms, { integrationId, until });
      });
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
        const deleted = await deleteBelow(tx, integrationId, WHOLE_MOUNT, now);
        await tx.run(markFilesDeleted, { integrationId, now });
        return deleted;
      });
    }
    if (count > 0) logger.info({ files: count }, 'files of deleted integrations were deleted');
    return count;
  }
}
