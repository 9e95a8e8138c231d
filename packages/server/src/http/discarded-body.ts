import type { IncomingMessage } from 'node:http';
import { type FormTimes, MAX_WASTE_BYTES } from './multipart-form.ts';

/**
 * Reads what is left of a request whose answer is known, and forgets it: a sender that is still sending when its
 * connection closes does not see the answer. It ends with the request, or after so many bytes, so
 * long a silence, or so long a time.
 */
export function throwAway(request: IncomingMessage, { uploadIdleMs, uploadMs }: FormTimes): void {
  if (request.complete || request.destroyed) return;
  let bytes = 0;
  const cut = () => request.socket.destroy();
  const deadline = setTimeout(cut, uploadMs);
  let idle = setTimeout(cut, uploadIdleMs);
  const stop = () => {
    clearTimeout(idle);
    clearTimeout(deadline);
  };
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    clearTimeout(idle);
    if (bytes > MAX_WASTE_BYTES) cut();
    else idle = setTimeout(cut, uploadIdleMs);
  });
  request.on('error', stop).on('end', stop).on('close', stop);
  // Node forgets a request whose answer was sent: if the connection closes then, the request emits nothing.
  request.socket.once('close', stop);
  request.resume();
}
