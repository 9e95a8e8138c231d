import type { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';

/* Messages on a socket: the length in 4 bytes, then the message as V8 serializes it. */

const HEADER_BYTES = 4;
/** The largest prompt with its attachments is smaller. A length beyond it means that something else wrote to the socket. */
const MAX_FRAME_BYTES = 512 * 1024 * 1024;

/** Throws if a part of the message cannot be sent, such as a function. */
export function sendFrame(socket: Socket, message: unknown): void {
  const body = serialize(message);
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32LE(body.length);
  socket.cork();
  socket.write(header);
  socket.write(body);
  socket.uncork();
}

/** Calls back with each message. The second function gets why the bytes are no messages; then nothing more is read. */
export function readFrames(
  socket: Socket,
  onMessage: (message: unknown) => void,
  onInvalid: (error: unknown) => void,
): void {
  let chunks: Buffer[] = [];
  let held = 0;
  let needed = HEADER_BYTES;
  let isHeader = true;

  /** Joined only when the message is complete, so a large message is copied once. */
  const take = (): Buffer => {
    const all = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, held);
    const taken = all.subarray(0, needed);
    chunks = all.length === needed ? [] : [all.subarray(needed)];
    held -= needed;
    return taken;
  };

  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    held += chunk.length;
    try {
      while (held >= needed) {
        const taken = take();
        if (isHeader) {
          needed = taken.readUInt32LE();
          if (needed > MAX_FRAME_BYTES) throw new Error(`a message of ${needed} bytes`);
        } else {
          needed = HEADER_BYTES;
          onMessage(deserialize(taken));
        }
        isHeader = !isHeader;
      }
    } catch (error) {
      socket.removeAllListeners('data');
      socket.resume();
      onInvalid(error);
    }
  });
}
