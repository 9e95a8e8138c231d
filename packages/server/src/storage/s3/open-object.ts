import { StoreUnavailable } from '../../domain/unavailable.ts';
import type { ByteRange } from '../blob-store.ts';
import type { S3Bucket, StreamedObject, TypedObject } from './s3-bucket.ts';
import { asUnavailable } from './s3-errors.ts';

/** How often in a row a connection may break without a byte. */
const TRIES = 3;

export interface OpenedObject extends AsyncDisposable {
  readonly object: TypedObject;
  /** The version's bytes with the etag of `object`, read over as many connections as needed. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Resolves to null if the object does not exist. */
export async function openObject(bucket: S3Bucket, key: string, range: ByteRange | null): Promise<OpenedObject | null> {
  const begun = await bucket.stream(key, range);
  if (begun === null) return null;
  const reading = { now: begun };
  return {
    object: begun.object,
    bytes: pieces(bucket, reading, range ?? { first: 0, last: Number.POSITIVE_INFINITY }),
    async [Symbol.asyncDispose]() {
      reading.now.body.destroy();
    },
  };
}

/** If the connection of a slow reader is cut, the read continues on a new one at the same position. */
async function* pieces(
  bucket: S3Bucket,
  reading: { now: StreamedObject },
  { first, last: wanted }: ByteRange,
): AsyncGenerator<Uint8Array> {
  const { key, etag, size } = reading.now.object;
  const last = Math.min(wanted, size - 1);
  let at = first;
  for (let tries = 1; at <= last; tries += 1) {
    let reason: unknown = new Error('it ended too early');
    const before = at;
    try {
      for await (const piece of reading.now.body as AsyncIterable<Uint8Array>) {
        at += piece.length;
        yield piece;
      }
    } catch (error) {
      reason = error;
    }
    if (at > last) return;
    if (at > before) tries = 0;
    if (tries === TRIES) throw asUnavailable(reason);
    const next = await bucket.stream(key, { first: at, last }, etag);
    if (next === null) throw new StoreUnavailable('The file was replaced or deleted while it was being read.');
    reading.now = next;
  }
}
