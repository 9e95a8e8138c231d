import { Unreadable } from '@runwire/documents';
import { FetchFailed } from '@runwire/guarded-fetch';
import { attachmentName, type StoredAttachment } from '../domain/attachment/attachment.ts';
import { isImported } from '../domain/chat/imported-turn.ts';
import { RunFailure } from '../domain/run/run-failure.ts';
import { BlobUnavailable } from './attachment-blobs.ts';

/** Returns the sentence for the caller if an attachment cannot be sent, or null if the error is about something else. */
export function attachmentFailure(error: unknown, attachment: StoredAttachment, ownRunId: string): RunFailure | null {
  const problem = endOfSentence(error, attachment.run_id === ownRunId);
  if (problem === null) return null;
  const sentence = `${nameInSentence(attachment, ownRunId)} ${problem}.`;
  return new RunFailure('attachment_unavailable', sentence, { cause: error });
}

function endOfSentence(error: unknown, isOwn: boolean): string | null {
  if (error instanceof BlobUnavailable) return `${error.message}; ${error.remedy}`;
  if (error instanceof Unreadable) return error.message;
  if (!(error instanceof FetchFailed)) return null;
  if (error.isFinal) return isOwn ? error.message : `${error.message}, or start a new chat`;
  if (isOwn) return `${error.message}; attach it again to a new message`;
  const otherwise = error.status !== null && GONE.has(error.status) ? ', or start a new chat' : '';
  return `${error.message}; send a fresh link to it in \`attachmentUrlRefreshes\` of a new message${otherwise}`;
}

/** A new chat helps too: the file may have been deleted, and then no fresh link exists. */
const GONE: ReadonlySet<number> = new Set([404, 410]);

/** The beginning of the sentence for the caller. It never contains a URL's query, because that may be a key. */
function nameInSentence(attachment: StoredAttachment, ownRunId: string): string {
  const { run_id, position, url_key, media_type, size_bytes } = attachment;
  const earlier = isImported(run_id) ? 'an imported message' : `an earlier message (run ${run_id})`;
  const message = run_id === ownRunId ? 'this message' : earlier;
  const inline = `${media_type ?? attachmentName(attachment) ?? 'a file'} of ${size_bytes} bytes`;
  return `\`attachments[${position}]\` of ${message}, ${url_key ?? inline},`;
}
