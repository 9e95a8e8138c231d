import { type FileContent, type SourceFile, Unreadable } from '@runwire/documents';
import { FetchFailed } from '@runwire/guarded-fetch';
import { attachmentName, type StoredAttachment } from '../domain/attachment/attachment.ts';
import type { AttachmentDeps, AttachmentRun } from './attachment-tools.ts';

type FetchDeps = Pick<AttachmentDeps, 'attachments' | 'metrics' | 'logger'>;

interface FetchRequest {
  readonly url: string;
  /** The attachments that have this URL. */
  readonly rows: readonly StoredAttachment[];
  readonly signal: AbortSignal;
  /** Called once for each group of attachments that read the file in the same way. The bytes belong to the callee. */
  readonly use: (rows: readonly [StoredAttachment, ...StoredAttachment[]], source: SourceFile) => Promise<void>;
}

/**
 * Fetches the file at one URL. Reserves memory for its bytes before the request, and holds it until `use` has resolved.
 * Rejects with `FetchFailed`, the signal's reason, or the error of `use`.
 */
export async function fetchAttachment(
  deps: FetchDeps,
  run: AttachmentRun,
  { url, rows, signal, use }: FetchRequest,
): Promise<void> {
  const { budget, maxBytes, fetcher } = deps.attachments;
  // The time limit of the fetch starts after this wait.
  using room = await budget.reserve(run.ownerId, maxBytes, signal);
  const began = performance.now();
  const fetched = await fetcher
    .fetch(new URL(url), signal, (bytes) => room.shrinkTo(bytes))
    .catch((error: unknown) => {
      if (error instanceof FetchFailed && !signal.aborted) {
        deps.metrics.attachmentFetch.observe(performance.now() - began);
        reportFailure(deps, run, rows[0], error);
      }
      throw error;
    });
  deps.metrics.attachmentFetch.observe(performance.now() - began);
  deps.metrics.attachments.add({ outcome: 'fetched' });
  deps.metrics.attachmentBytes.add({}, fetched.bytes.length);
  room.shrinkTo(fetched.bytes.length);
  const groups = Map.groupBy(rows, (row) => JSON.stringify([row.kind, attachmentName(row), takesPdf(row, run)]));
  let left = groups.size;
  for (const [row, ...others] of groups.values()) {
    if (row === undefined) continue;
    left -= 1;
    // The reader takes ownership of the bytes, so every group except the last gets a copy.
    const bytes = left === 0 ? fetched.bytes : fetched.bytes.slice();
    await use([row, ...others], sourceFile(row, bytes, fetched.contentType));
  }
}

/** A file that was sent as text stays text, so that a later turn shows the same prompt as the earlier ones. */
const takesPdf = (row: StoredAttachment, run: AttachmentRun): boolean => run.takesPdf && row.form !== 'text';

export function sourceFile(
  row: StoredAttachment,
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string | null,
): SourceFile {
  return { kind: row.kind, name: attachmentName(row) ?? '', bytes, contentType };
}

/** Converts a file into the content that is sent to the model. Takes ownership of the file's bytes. */
export async function readAttachment(
  deps: FetchDeps,
  run: AttachmentRun,
  row: StoredAttachment,
  source: SourceFile,
  signal: AbortSignal,
): Promise<FileContent> {
  try {
    return await deps.attachments.reader.read(source, { pdf: takesPdf(row, run), ownerId: run.ownerId }, signal);
  } catch (error) {
    if (error instanceof Unreadable) reportFailure(deps, run, row, error);
    throw error;
  }
}

function reportFailure(
  { metrics, logger }: FetchDeps,
  { runId }: AttachmentRun,
  row: StoredAttachment | undefined,
  error: FetchFailed | Unreadable,
): void {
  const outcome = error instanceof Unreadable ? 'unreadable' : error.kind === 'refused' ? 'refused' : 'failed';
  metrics.attachments.add({ outcome });
  // `url_key` has no query, because a query may contain a key.
  const about = { runId, ofRun: row?.run_id, position: row?.position, url: row?.url_key, outcome };
  const why = error instanceof FetchFailed ? { kind: error.kind, status: error.status } : {};
  logger.info({ ...about, ...why, err: error }, 'attachment could not be fetched or read');
}
