import type { ServerResponse } from 'node:http';

/**
 * The body of one streamed answer. `ServerResponse.write` keeps a chunk until the end of the turn and then passes three
 * pieces to the socket. This class writes a chunk as one string with one write. `drain` and `writableLength` behave
 * like those of the response. It uses `ServerResponse.write` in three cases: for the first bytes, which carry the head,
 * and for bytes of the same turn; after an answer that is still being sent on the same connection; and for HTTP/1.0,
 * which has no chunks.
 */
export class ChunkedBody {
  readonly #response: ServerResponse;
  #begun = false;
  #awaitsDrain = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** `after` is called after the bytes have left the process. */
  write(data: string | Buffer, after?: (() => void) | undefined): void {
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
    if (!isDirect) {
      response.write(data, after as () => void);
      return;
    }
    if (writeChunk(socket, data, after) || this.#awaitsDrain) return;
    this.#awaitsDrain = true;
    socket.once('drain', this.#drained);
  }

  /** Everything that is written from now on leaves with the final chunk, which must follow in the same turn. */
  holdForEnd(): void {
    this.#response.socket?.cork();
  }

  #drained = (): void => {
    this.#awaitsDrain = false;
    if (!this.#response.writableEnded) this.#response.emit('drain');
  };
}

type Socket = NonNullable<ServerResponse['socket']>;

function writeChunk(socket: Socket, data: string | Buffer, after: (() => void) | undefined): boolean {
  const bytes = Buffer.byteLength(data);
  // An empty chunk would end the body.
  if (bytes === 0) return true;
  if (typeof data !== 'string') {
    socket.cork();
    socket.write(`${bytes.toString(16)}\r\n`, 'latin1');
    socket.write(data);
    const hasRoom = socket.write('\r\n', 'latin1', after);
    socket.uncork();
    return hasRoom;
  }
  // If there are as many bytes as characters, the text is ASCII, which Node writes without encoding it.
  return socket.write(`${bytes.toString(16)}\r\n${data}\r\n`, bytes === data.length ? 'latin1' : 'utf8', after);
}
