import type { IncomingMessage } from 'node:http';
import { FetchFailed, finalFailure } from './fetch-failed.ts';
import { GrowingBytes } from './growing-bytes.ts';
import { cut } from './send-request.ts';

/** Reads all bytes of an answer, at most `maxBytes`. Fails if it ends before its announced end. */
export async function readBody(
  answer: IncomingMessage,
  maxBytes: number,
  onSize?: (bytes: number) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const { 'content-encoding': encoding = '', 'transfer-encoding': transfer = 'chunked' } = answer.headers;
  if (!/^(identity)?$/i.test(encoding.trim()) || transfer.toLowerCase() !== 'chunked') {
    throw finalFailure(
      'broken',
      'its server sent it compressed, although the request excluded that',
      'switch off `Content-Encoding` for it',
    );
  }
  const length = answer.headers['content-length'];
  const declared = length === undefined ? null : Number(length);
  const tooLarge = () => finalFailure('too_large', `it is larger than ${maxBytes} bytes`, 'attach a smaller one');
  if (declared !== null && !(declared <= maxBytes)) throw tooLarge();
  if (declared !== null) onSize?.(declared);
  const bytes = new GrowingBytes(declared, maxBytes);
  try {
    for await (const piece of answer) {
      if (bytes.size + piece.length > maxBytes) throw tooLarge();
      bytes.add(piece);
    }
  } catch (error) {
    throw error instanceof FetchFailed ? error : cut();
  }
  return bytes.take();
}
