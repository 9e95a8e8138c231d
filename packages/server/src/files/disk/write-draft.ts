import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { WaitAt } from '../../domain/wait-points.ts';
import { stamp } from './stamp.ts';

/** All bytes into an open file, durable when it resolves, to their etag as S3 has it: their MD5, in quotes. */
export async function writeDraft(
  file: FileHandle,
  bytes: AsyncIterable<Uint8Array>,
  waitAt: WaitAt | undefined,
): Promise<string> {
  const md5 = createHash('md5');
  for await (const piece of bytes) {
    waitAt?.('upload-bytes.before');
    md5.update(piece);
    for (let written = 0; written < piece.length; ) {
      written += (await file.write(piece, written)).bytesWritten;
    }
    waitAt?.('upload-bytes.after');
  }
  await stamp(file);
  waitAt?.('upload-sync.before');
  await file.sync();
  waitAt?.('upload-sync.after');
  return `"${md5.digest('hex')}"`;
}
