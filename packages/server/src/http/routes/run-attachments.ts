import { operations } from '@runwire/contract/schemas';
import type { FastifyInstance } from 'fastify';
import type { AttachmentBlobs } from '../../attachments/attachment-blobs.ts';
import type { Scope } from '../../domain/account/scope.ts';
import { safeMediaType } from '../../domain/file/media-type.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { findRunAttachment } from '../../runs/run-attachment.ts';
import { toAttachment } from '../content-disposition.ts';
import { sendBytes } from '../file-answer.ts';
import { route } from '../route.ts';

export interface RunAttachmentDeps {
  readonly find: (scope: Scope, runId: string, attachmentId: string) => ReturnType<typeof findRunAttachment>;
  readonly blobs: Pick<AttachmentBlobs, 'open'>;
}

/** The bytes of images that tools returned. */
export function runAttachmentRoutes(app: FastifyInstance, { find, blobs }: RunAttachmentDeps): void {
  route(app, operations.getRunAttachment, async (request, reply, scope) => {
    const { runId, attachmentId } = request.params;
    const { blob_key: blobKey, media_type: stored } = await find(scope, runId, attachmentId);
    const opened = await blobs.open(blobKey);
    if (opened === null) throw new Refusal('attachment_not_found', 'The bytes of this attachment are lost.');
    const mediaType = safeMediaType(stored);
    reply.headers({
      'content-type': mediaType,
      'content-length': opened.size,
      'cache-control': 'private, no-cache',
      // The bytes come from a tool: they must never become a page of this origin.
      'content-disposition': toAttachment(`${attachmentId}.${mediaType.slice(mediaType.indexOf('/') + 1)}`),
      'content-security-policy': 'sandbox',
    });
    return sendBytes(reply, opened);
  });
}
