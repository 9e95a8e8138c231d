import type { AttachmentRun } from '../attachments/attachment-tools.ts';
import type { ReadyAttachment } from '../attachments/prompt-attachment.ts';
import { RunAttachments } from '../attachments/run-attachments.ts';
import type { ScratchBlobs } from '../attachments/scratch-blobs.ts';
import type { StoredAttachment } from '../domain/attachment/attachment.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import { getBeginningAgent } from '../domain/run/beginning-agent.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { EngineDeps } from './deps.ts';
import type { PreparedAgency } from './prepared-agency.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import type { StopHandle } from './stop-handle.ts';

/** What attachments and images need of one attempt of a run. */
export interface BlobUser {
  readonly deps: EngineDeps;
  readonly run: AdmittedRun;
  readonly prepared: PreparedAgency | null;
  readonly scratch: ScratchBlobs;
  readonly stop: StopHandle;
  readonly logger: Logger;
}

export const toAttachmentRun = ({ deps, run, prepared, stop }: BlobUser): AttachmentRun => ({
  ...run,
  takesPdf: prepared?.takesPdf(getBeginningAgent(run, prepared.agency.agents)) === true,
  signal: stop.signal,
  retry: (job) => retryWhileUnavailable(deps, stop, job),
});

/** Makes attachments ready. Most runs have none, and then it makes nothing. */
export class UsedAttachments {
  readonly #user: BlobUser;
  #used: RunAttachments | null = null;

  constructor(user: BlobUser) {
    this.#user = user;
  }

  async ready(rows: readonly StoredAttachment[]): Promise<ReadyAttachment[]> {
    return rows.length === 0 ? [] : await this.#use().ready(rows);
  }

  read(one: ReadyAttachment): Promise<Uint8Array> {
    return this.#use().read(one);
  }

  #use(): RunAttachments {
    const { deps, scratch, logger } = this.#user;
    const { attachments, store, metrics } = deps;
    const all = { attachments, store, metrics, logger };
    this.#used ??= new RunAttachments(all, toAttachmentRun(this.#user), scratch);
    return this.#used;
  }
}
