import type { Given } from '@runwire/documents';
import { Unreadable } from '@runwire/documents';
import { sha256Of } from '../attachments/attachment-blobs.ts';
import { type Attachment, attachmentName } from '../domain/attachment.ts';
import { FetchFailed } from '../guarded-fetch/fetch-failed.ts';
import type { AttachmentTools, SentFile } from './attachment-tools.ts';
import type { EngineDeps } from './deps.ts';

export interface FetchDeps extends Pick<EngineDeps, 'metrics' | 'logger'> {
  readonly attachments: Pick<AttachmentTools, 'fetcher' | 'reader' | 'budget' | 'maxBytes'>;
}

/** What one URL gives, for rows that read it alike: they share what is made of it. The bytes are theirs. */
export interface FetchedFor {
  readonly rows: readonly [Attachment, ...Attachment[]];
  readonly given: Given;
}

interface Fetching {
  readonly ownerId: string;
  readonly runId: string;
  /** Whether the model takes PDFs as they are. */
  readonly takesPdf: boolean;
}

/**
 * Fetches the file of these attachments, which have one URL. Memory for its bytes is reserved before its server is asked,
 * and held until `use` has resolved. Rejects with `FetchFailed`, the signal's reason, or as `use` does.
 */
export async function fetchAttachment(
  deps: FetchDeps,
  url: string,
  rows: readonly Attachment[],
  of: Fetching,
  signal: AbortSignal,
  use: (fetched: FetchedFor) => Promise<void>,
): Promise<void> {
  const { budget, maxBytes } = deps.attachments;
  // The time limit of the fetch starts after this wait.
  using room = await budget.reserve(of.ownerId, maxBytes, signal);
  const fetched = await measured(deps, rows, of, signal, () =>
    deps.attachments.fetcher.fetch(new URL(url), signal, (bytes) => room.shrinkTo(bytes)),
  );
  room.shrinkTo(fetched.bytes.length);
  const ways = Map.groupBy(rows, (row) => JSON.stringify([row.kind, attachmentName(row), takesPdf(row, of)]));
  let left = ways.size;
  for (const alike of ways.values()) {
    const [row, ...others] = alike;
    if (row === undefined) continue;
    left -= 1;
    // The reader takes the bytes over.
    const bytes = left === 0 ? fetched.bytes : fetched.bytes.slice();
    await use({ rows: [row, ...others], given: { ...givenAs(row), bytes, contentType: fetched.contentType } });
  }
}

/** What was sent as text stays text: a later turn shows what the earlier ones did. */
const takesPdf = (row: Attachment, of: Fetching): boolean => of.takesPdf && row.form !== 'text';

export const givenAs = (row: Attachment): Pick<Given, 'kind' | 'name'> => ({
  kind: row.kind,
  name: attachmentName(row) ?? '',
});

/** Makes of a file's bytes what is sent; they are taken over. */
export async function readAttachment(
  deps: FetchDeps,
  given: Given,
  row: Attachment,
  of: Fetching,
  signal: AbortSignal,
): Promise<SentFile> {
  try {
    const options = { pdf: takesPdf(row, of), ownerId: of.ownerId };
    const { form, mediaType, bytes, ...more } = await deps.attachments.reader.read(given, options, signal);
    const pages = 'pages' in more ? more.pages : null;
    return { form, mediaType, pages, bytes, sha256: await sha256Of(bytes) };
  } catch (error) {
    if (error instanceof Unreadable) failed(deps, 'unreadable', error, row, of);
    throw error;
  }
}

async function measured<T extends { readonly bytes: Uint8Array }>(
  deps: FetchDeps,
  rows: readonly Attachment[],
  of: Fetching,
  signal: AbortSignal,
  get: () => Promise<T>,
): Promise<T> {
  const { metrics } = deps;
  const began = performance.now();
  try {
    const fetched = await get();
    metrics.attachmentFetch.observe(performance.now() - began);
    metrics.attachments.add({ outcome: 'fetched' });
    metrics.attachmentBytes.add({}, fetched.bytes.length);
    return fetched;
  } catch (error) {
    if (error instanceof FetchFailed && !signal.aborted) {
      metrics.attachmentFetch.observe(performance.now() - began);
      failed(deps, error.kind === 'refused' ? 'refused' : 'failed', error, rows[0], of);
    }
    throw error;
  }
}

function failed(
  { metrics, logger }: FetchDeps,
  outcome: 'refused' | 'failed' | 'unreadable',
  error: FetchFailed | Unreadable,
  row: Attachment | undefined,
  { runId }: Fetching,
): void {
  metrics.attachments.add({ outcome });
  // `urlKey` has no query, because a query may contain a key.
  const about = { runId, ofRun: row?.runId, position: row?.position, url: row?.urlKey, outcome };
  const why = error instanceof FetchFailed ? { kind: error.kind, status: error.status } : {};
  logger.info({ ...about, ...why, err: error }, 'attachment could not be fetched or read');
}
