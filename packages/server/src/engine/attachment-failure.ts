import { Unreadable } from '@runwire/documents';
import { RunFailure } from '../agent/ports.ts';
import { BlobUnavailable } from '../attachments/attachment-blobs.ts';
import type { Attachment } from '../domain/attachment.ts';
import { FetchFailed } from '../guarded-fetch/fetch-failed.ts';

/** Returns the sentence for the caller if an attachment cannot be sent, or null if the error is about something else. */
export function attachmentFailure(error: unknown, attachment: Attachment, ownRunId: string): RunFailure | null {
  const says = endOfSentence(error, attachment.runId === ownRunId);
  if (says === null) return null;
  return new RunFailure('attachment_unavailable', `${nameInSentence(attachment, ownRunId)} ${says}.`, { cause: error });
}

function endOfSentence(error: unknown, isOwn: boolean): string | null {
  if (error instanceof BlobUnavailable) return `${error.message}; ${error.remedy}`;
  if (error instanceof Unreadable) return error.message;
  if (!(error instanceof FetchFailed)) return null;
  if (error.isFinal) return isOwn ? error.message : `${error.message}, or begin a new chat`;
  if (isOwn) return `${error.message}; attach it again to a new message`;
  const otherwise = error.status !== null && GONE.has(error.status) ? ', or begin a new chat' : '';
  return `${error.message}; give a fresh link to it in \`attachmentUrlRefreshes\` of a new message${otherwise}`;
}

/** A new chat helps too: the file may have been deleted, and then no fresh link exists. */
const GONE: ReadonlySet<number> = new Set([404, 410]);

/** The beginning of a sentence about it, for the people who attached it: never with a URL's query. */
function nameInSentence(attachment: Attachment, ownRunId: string): string {
  const { runId, position, urlKey, mediaType, sizeBytes } = attachment;
  const whose = runId === ownRunId ? 'this message' : `an earlier message (run ${runId})`;
  return `\`attachments[${position}]\` of ${whose}, ${urlKey ?? `${mediaType} of ${sizeBytes} bytes`},`;
}
