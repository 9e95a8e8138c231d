import { DEFAULT_DOCUMENT_LIMITS, type DocumentReader } from '@runwire/documents';
import { GuardedFetcher, type Network } from '@runwire/guarded-fetch';
import type { FetchAllow } from '@runwire/guarded-fetch/url-rules';
import type { FairBudget } from '@runwire/lib/fair-budget.ts';
import type { AttachmentBlobs } from '../attachments/attachment-blobs.ts';
import type { AttachmentTools } from '../attachments/attachment-tools.ts';
import type { Limits } from '../config/limits.ts';

interface Outside {
  readonly allow: FetchAllow;
  readonly blobs: AttachmentBlobs;
  readonly newBudget: (total: number) => FairBudget;
  /** In place of the real one. */
  readonly network?: Network | undefined;
}

/** Puts together what runs use to fetch and read attachments. `stack` releases its resources. */
export function openAttachments(
  { attachmentBytes, attachmentMs, attachmentsBytes, ...limits }: Limits,
  { allow, blobs, network, newBudget }: Outside,
  stack: AsyncDisposableStack,
): AttachmentTools {
  return {
    fetcher: new GuardedFetcher({
      allow,
      maxBytes: attachmentBytes,
      maxMs: attachmentMs,
      ...(network === undefined ? {} : { network }),
    }),
    reader: stack.use(new LateReader(limits, newBudget(DEFAULT_DOCUMENT_LIMITS.workers))),
    blobs,
    budget: newBudget(attachmentsBytes),
    maxBytes: attachmentBytes,
  };
}

type ReaderLimits = Pick<Limits, 'attachmentPages' | 'attachmentCharacters' | 'conversionMs'>;

/** A server that is never sent a file does without what reads them. */
class LateReader implements AsyncDisposable {
  readonly #limits: ReaderLimits;
  readonly #slots: FairBudget;
  #reader: Promise<DocumentReader> | null = null;

  constructor(limits: ReaderLimits, slots: FairBudget) {
    this.#limits = limits;
    this.#slots = slots;
  }

  read = async (...given: Parameters<DocumentReader['read']>): ReturnType<DocumentReader['read']> => {
    this.#reader ??= this.#load();
    return (await this.#reader).read(...given);
  };

  async #load(): Promise<DocumentReader> {
    const { DocumentReader } = await import('@runwire/documents');
    const { attachmentPages, attachmentCharacters, conversionMs } = this.#limits;
    const given = { pages: attachmentPages, characters: attachmentCharacters, conversionMs };
    return new DocumentReader({ ...DEFAULT_DOCUMENT_LIMITS, ...given }, this.#slots);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#reader)?.[Symbol.asyncDispose]();
  }
}
