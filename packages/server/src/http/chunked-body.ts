import type { ServerResponse } from 'node:http';
import { PageBytes } from './encoders/page-bytes.ts';

/**
 * The body of one streamed answer. `ServerResponse.write` keeps a chunk until the end of the turn and then passes three
 * pieces to the socket. This class writes a chunk with one write. `drain` and `writableLength` behave
 * like those of the response. It uses `ServerResponse.write` in three cases: for the first bytes, which carry the head,
 * and for the same turn's bytes; after an answer that is still being sent on the same connection; and for HTTP/1.0,
 * which has no chunks.
 */
export class ChunkedBody {
  readonly #response: ServerResponse;
  #begun = false;
  #awaitsDrain = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /**
   * `after` is called after the bytes have left the process. After the last data the response must be ended in the same
   * turn: the end of the body leaves in the same write.
   */
  write(data: string | PageBytes, after?: (() => void) | undefined, isLast = false): void {
    const response = this.#response;
    const { socket } = response;
    const isDirect =
      this.#begun &&
      socket !== null &&
      response.chunkedEncoding &&
      !response.writableEnded &&
      // The response itself buffers nothing.
      response.writableLength === socket.writableLength;
    this.#begun = true;
    // `end` follows in the same turn and uncorks. A page that is written directly contains the end of the body.
    if (isLast && !(isDirect && data instanceof PageBytes)) socket?.cork();
    if (!isDirect) {
      response.write(typeof data === 'string' ? data : data.copy(), after as () => void);
      return;
    }
    // An empty chunk would end the body.
    if (data.length === 0) return;
    const hasRoom =
      typeof data === 'string' ? writeText(socket, data, after) : writePage(socket, data.chunk(isLast), data, after);
    // The page contains the end of the body. `end` would send it again.
    if (isLast && typeof data !== 'string') response.chunkedEncoding = false;
    if (hasRoom || this.#awaitsDrain) return;
    this.#awaitsDrain = true;
    socket.once('drain', this.#drained);
  }

  #drained = (): void => {
    this.#awaitsDrain = false;
    if (!this.#response.writableEnded) this.#response.emit('drain');
  };
}

type Socket = NonNullable<ServerResponse['socket']>;

function writeText(socket: Socket, data: string, after: (() => void) | undefined): boolean {
  const bytes = Buffer.byteLength(data);
  // If there are as many bytes as characters, the text is ASCII, which Node writes without encoding it.
  return socket.write(`${bytes.toString(16)}\r\n${data}\r\n`, bytes === data.length ? 'latin1' : 'utf8', after);
}

/** A page's memory is used again, so a socket that cannot send it immediately gets a copy. */
function writePage(socket: Socket, chunk: Buffer, page: PageBytes, after: (() => void) | undefined): boolean {
  if (socket.writableLength > 0) return socket.write(Buffer.from(chunk), after);
  const hasRoom = socket.write(chunk, after);
  if (socket.writableLength > 0) page.keep();
  return hasRoom;
}
