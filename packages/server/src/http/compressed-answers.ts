import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptedEncoding, compress, type Encoding } from './content-encoding.ts';

/** Smaller answers fit into one packet. */
const MIN_BYTES = 1024;

/** Node's pool has four threads, which also read files and hash passwords. The other two stay free. */
const MAX_CONCURRENT = 2;

type Payload = string | Buffer;
type Request = Pick<FastifyRequest, 'method' | 'headers'>;
type Reply = Pick<FastifyReply, 'getHeader' | 'header'>;

/**
 * Compresses the JSON answers to GET and HEAD. Only these: the operations that return a secret, such as a new key, a
 * token or a signed form, are POST, so no answer is compressed that has a secret beside text of a caller. Streams and files
 * are not compressed, because they are not sent as one text. If two answers are being compressed, further ones are sent
 * as they are.
 */
export class CompressedAnswers {
  #running = 0;

  /** Returns null if the answer is sent as it is. */
  begin(request: Request, reply: Reply, payload: unknown): Promise<Payload> | null {
    if (!isLongJson(request, reply, payload)) return null;
    addVary(reply);
    if (this.#running === MAX_CONCURRENT) return null;
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
    return encoding === null ? null : this.#compressed(payload, encoding, reply);
  }

  /** Never rejects: an answer that cannot be compressed is sent as it is. */
  async #compressed(payload: Payload, encoding: Encoding, reply: Reply): Promise<Payload> {
    this.#running += 1;
    try {
      const bytes = await compress(payload, encoding, 'sentOnce');
      reply.header('content-encoding', encoding);
      return bytes;
    } catch {
      return payload;
    } finally {
      this.#running -= 1;
    }
  }
}

function isLongJson({ method }: Request, reply: Reply, payload: unknown): payload is Payload {
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return false;
  // The number of characters is at most the number of bytes.
  if (payload.length < MIN_BYTES) return false;
  return String(reply.getHeader('content-type')).startsWith('application/json');
}

/** Clients with another `Accept-Encoding` get other bytes. */
function addVary(reply: Reply): void {
  const others = reply.getHeader('vary');
  reply.header('vary', others === undefined ? 'Accept-Encoding' : `${others}, Accept-Encoding`);
}
