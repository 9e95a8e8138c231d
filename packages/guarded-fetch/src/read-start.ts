import type { IncomingMessage } from 'node:http';
import { GrowingBytes } from './growing-bytes.ts';

/** The status is known already, so a slow body is not worth a longer wait. */
const MAX_MS = 1000;

/** Reads at most `maxBytes` of an answer, for at most a second. An answer that is cut counts as far as it was read. */
export async function readStart(answer: IncomingMessage, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new GrowingBytes(null, maxBytes);
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, MAX_MS);
  answer.on('data', (piece: Buffer) => {
    bytes.add(piece.subarray(0, maxBytes - bytes.size));
    if (bytes.size === maxBytes) resolve();
  });
  for (const event of ['end', 'close', 'error']) answer.on(event, () => resolve());
  await promise;
  clearTimeout(timer);
  answer.removeAllListeners('data');
  return bytes.take();
}
