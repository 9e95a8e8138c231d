import type { ServerResponse } from 'node:http';

/**
 * The body of one streamed answer. `ServerResponse.write` keeps a chunk until the turn is over and then hands it to the
 * socket as three pieces; here a chunk is one string and one write. When `drain` comes and what `writableLength` says
 * stay those of the response. Where that is not possible it goes the response's own way: for the first bytes, which
 * carry the head, and what joins them in the same turn; behind an answer that is still under way on the same connection;
 * and to HTTP/1.0, which has no chunks.
 */
export class ChunkedBody {
  readonly #response: ServerResponse;
  #begun = false;
  #awaitsDrain = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** `after` is called when the bytes are out of the process. */
  write(data: string | Buffer, after?: (() => void) | undefined): void {
    const response = this.#response;
    const { socket } = response;
    const isDirect =
      this.#begun &&
      socket !== null &&
      response.chunkedEncoding &&
      !response.writableEnded &&
      // Nothing of it is held back by the response itself.
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

  /** What is written from here on leaves with the final chunk, which must follow in the same turn. */
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
  // An empty chunk would be the last one.
  if (bytes === 0) return true;
  if (typeof data !== 'string') {
    socket.cork();
    socket.write(`${bytes.toString(16)}\r\n`, 'latin1');
    socket.write(data);
    const hasRoom = socket.write('\r\n', 'latin1', after);
    socket.uncork();
    return hasRoom;
  }
  // As many bytes as characters: ASCII, which the runtime writes without encoding it.
  return socket.write(`${bytes.toString(16)}\r\n${data}\r\n`, bytes === data.length ? 'latin1' : 'utf8', after);
}
