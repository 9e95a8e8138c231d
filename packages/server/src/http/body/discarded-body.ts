import type { IncomingMessage } from 'node:http';
import { type FormTimes, MAX_WASTE_BYTES } from './multipart-form.ts';

/**
 * Reads and discards the rest of an upload whose answer is known: a sender that is still sending when its connection
 * closes does not see the answer. Closes the connection after too many bytes, too long a silence, or too long a time.
 * The bodies of all other requests are discarded by Node, within the limits of `RequestDeadlines`.
 */
export function throwAway(request: IncomingMessage, { uploadIdleMs, uploadMs }: FormTimes): void {
  if (request.complete || request.destroyed) return;
  const { socket } = request;
  let bytes = 0;
  const cut = () => socket.destroy();
  const deadline = setTimeout(cut, uploadMs);
  const idle = setTimeout(cut, uploadIdleMs);
  const stop = () => {
    clearTimeout(idle);
    clearTimeout(deadline);
    socket.off('close', stop);
  };
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_WASTE_BYTES) cut();
    else idle.refresh();
  });
  request.on('error', stop).on('end', stop);
  // A request that was answered gets no event when its connection closes.
  socket.on('close', stop);
  request.resume();
}
