import { type PromptAttachment, RunFailure } from '../agent/ports.ts';
import { type Attachment, attachmentName } from '../domain/attachment.ts';
import { type AttachmentBlobs, BlobUnavailable } from '../files/attachment-blobs.ts';

/** It as a model is shown it. Its blob is read when the request to the provider is made, and not before. */
export function promptAttachment(
  attachment: Attachment,
  ownRunId: string,
  blobs: Pick<AttachmentBlobs, 'read'>,
): PromptAttachment {
  const { mediaType, sizeBytes, detail, blobKey } = attachment;
  if (mediaType === null || sizeBytes === null || blobKey === null) throw new Error('It was not fetched.');
  return {
    kind: 'image',
    name: attachmentName(attachment),
    mediaType,
    sizeBytes,
    detail,
    async read() {
      try {
        return await blobs.read({ blobKey, sizeBytes });
      } catch (error) {
        if (!(error instanceof BlobUnavailable)) throw error;
        const sentence = `${nameInSentence(attachment, ownRunId)} ${error.message}; ${error.remedy}.`;
        throw new RunFailure('attachment_unavailable', sentence, { cause: error });
      }
    },
  };
}

/** The beginning of a sentence about it, for the people who attached it: never with a URL's query. */
export function nameInSentence(attachment: Attachment, ownRunId: string): string {
  const { runId, position, urlKey, mediaType, sizeBytes } = attachment;
  const whose = runId === ownRunId ? 'this message' : `an earlier message (run ${runId})`;
  return `\`attachments[${position}]\` of ${whose}, ${urlKey ?? `${mediaType} of ${sizeBytes} bytes`},`;
}
