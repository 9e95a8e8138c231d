import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { safeMediaType } from '../domain/file/media-type.ts';
import { lastSegment } from '../domain/file/mount-path.ts';
import { Refusal } from '../domain/refusal.ts';
import type { OpenedFile, StoredFile } from '../files/files.ts';
import { toAttachment } from './content-disposition.ts';
import type { Reading } from './file-conditions.ts';

/** Status and headers of an answer with a file's bytes, whether or not they follow. Throws a `Refusal` for 416. */
export function answerHead(reply: FastifyReply, file: StoredFile, reading: Reading): FastifyReply {
  if (reading.kind === 'no-such-range') {
    reply.header('content-range', `bytes */${file.size}`);
    throw new Refusal('range_not_satisfiable', `The file has ${file.size} bytes; request a range within them.`);
  }
  reply.headers({
    etag: file.etag,
    'last-modified': new Date(file.modifiedAt).toUTCString(),
    'accept-ranges': 'bytes',
    // The caller must revalidate before each use, and shared caches must not store the file.
    'cache-control': 'private, no-cache',
  });
  if (reading.kind === 'unchanged') return reply.code(304);
  const { first, last } = reading.kind === 'part' ? reading.range : { first: 0, last: file.size - 1 };
  if (reading.kind === 'part') reply.code(206).header('content-range', `bytes ${first}-${last}/${file.size}`);
  return reply.headers({
    'content-type': safeMediaType(file.contentType),
    'content-length': last - first + 1,
    // An uploaded file must never become a page of this origin, even if a victim follows a link to it.
    'content-disposition': toAttachment(lastSegment(file.path)),
    'content-security-policy': 'sandbox',
  });
}

export function sendFile(reply: FastifyReply, opened: OpenedFile, reading: Reading): FastifyReply {
  return sendBytes(answerHead(reply, opened.file, reading), opened);
}

/** Streams the bytes as fast as the reader reads them. They are closed when the answer ends for any reason. */
export function sendBytes(
  reply: FastifyReply,
  opened: AsyncDisposable & { readonly bytes: AsyncIterable<Uint8Array> },
): FastifyReply {
  const bytes = Readable.from(opened.bytes, { objectMode: false });
  // The caller cannot fix a file that fails to close, and the bytes were read.
  const close = () => void opened[Symbol.asyncDispose]().then(undefined, () => {});
  // The stream's end is not enough: it waits for the current read, and the reader may have left long before.
  reply.raw.once('close', close);
  bytes.once('close', close);
  return reply.send(bytes);
}
