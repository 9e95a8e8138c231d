import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { WaitAt } from '../../domain/wait-points.ts';

export interface Written {
  readonly stats: BigIntStats;
  /** As S3 has it: MD5 of the bytes, in quotes. */
  readonly etag: string;
}

/** All bytes into an open file, durable when it resolves. */
export async function writeDraft(
  file: FileHandle,
  bytes: AsyncIterable<Uint8Array>,
  waitAt: WaitAt | undefined,
): Promise<Written> {
  const md5 = createHash('md5');
  for await (const piece of bytes) {
    waitAt?.('upload-bytes.before');
    md5.update(piece);
    for (let written = 0; written < piece.length; ) {
      written += (await file.write(piece, written)).bytesWritten;
    }
    waitAt?.('upload-bytes.after');
  }
  waitAt?.('upload-sync.before');
  await file.sync();
  waitAt?.('upload-sync.after');
  return { stats: await file.stat({ bigint: true }), etag: `"${md5.digest('hex')}"` };
}
