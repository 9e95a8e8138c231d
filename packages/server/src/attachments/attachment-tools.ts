import type { DocumentReader } from '@runwire/documents';
import type { GuardedFetcher } from '@runwire/guarded-fetch';
import type { FairBudget } from '@runwire/lib/fair-budget.ts';
import type { ChatKey, IntegrationId, OwnerId, RunId } from '../domain/ids.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { AttachmentBlobs } from './attachment-blobs.ts';

/** The parts with which a run fetches, reads and stores attachments. */
export interface AttachmentTools {
  readonly fetcher: Pick<GuardedFetcher, 'fetch'>;
  readonly reader: Pick<DocumentReader, 'read'>;
  readonly blobs: AttachmentBlobs;
  /** Limits the bytes of all files that this node fetches or reads concurrently. */
  readonly budget: FairBudget;
  /** One file's limit. */
  readonly maxBytes: number;
}

export interface AttachmentDeps {
  readonly attachments: AttachmentTools;
  readonly store: Store;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** The run that sends the attachments, as far as this folder needs it. The engine hands it in. */
export interface AttachmentRun {
  readonly runId: RunId;
  readonly attempt: number;
  /** The integration's owner, whose share of the budgets the run uses. */
  readonly ownerId: OwnerId;
  readonly integrationId: IntegrationId;
  readonly consumerId: string | null;
  readonly chatKey: ChatKey;
  /** True if copies of fetched files are stored as long as the chat exists. */
  readonly keepAttachments: boolean;
  /** True if the run's model accepts PDFs unchanged. */
  readonly takesPdf: boolean;
  /** Aborted when the run stops. */
  readonly signal: AbortSignal;
  /** Repeats the job while the store is unavailable. Rejects with `RunLost` if another node owns the run. */
  readonly retry: <T>(job: () => Promise<T>) => Promise<T>;
}
