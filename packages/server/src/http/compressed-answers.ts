import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptedEncoding, compress, type Encoding } from './content-encoding.ts';
import { COMPLETION_PATH } from './paths.ts';

/** Smaller answers fit into one packet. */
const MAX_PLAIN_BYTES = 1024;

/** Node's pool has four threads, which also read files and hash passwords. The other two stay free. */
const MAX_CONCURRENT = 2;

type Payload = string | Buffer;
type Request = Pick<FastifyRequest, 'headers' | 'routeOptions'>;
type Reply = Pick<FastifyReply, 'getHeader' | 'header'>;

/**
 * Compresses JSON answers, two at a time; further ones wait. Answers of requests that start runs are sent as they are,
 * and so is an answer with a secret: its compressed length would tell an attacker who chooses a text in it how alike the
 * two are. Streams and files are not sent as one text, so they are not compressed.
 */
export class CompressedAnswers {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** Returns null if the answer is sent as it is. */
  begin(request: Request, reply: Reply, payload: unknown): Promise<Payload> | null {
    if (!isLongJson(reply, payload) || !mayCompress(request)) return null;
    addVary(reply);
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
    return encoding === null ? null : this.#compressed(payload, encoding, reply);
  }

  /** Never rejects: an answer that cannot be compressed is sent as it is. */
  async #compressed(payload: Payload, encoding: Encoding, reply: Reply): Promise<Payload> {
    await this.#enter();
    try {
      const bytes = await compress(payload, encoding, 'sentOnce');
      reply.header('content-encoding', encoding);
      return bytes;
    } catch {
      return payload;
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#running === MAX_CONCURRENT) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
  }

  /** The next answer that waits continues in this one's place. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}

function isLongJson(reply: Reply, payload: unknown): payload is Payload {
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return false;
  if (Buffer.byteLength(payload) <= MAX_PLAIN_BYTES) return false;
  return String(reply.getHeader('content-type')).startsWith('application/json');
}

function mayCompress({ routeOptions: { config } }: Request): boolean {
  const { operation, startsRuns } = config;
  if (operation === undefined || startsRuns === true) return false;
  return operation.returnsSecret !== true && operation.path !== COMPLETION_PATH;
}

/** Clients with another `Accept-Encoding` get other bytes. */
function addVary(reply: Reply): void {
  const others = reply.getHeader('vary');
  reply.header('vary', others === undefined ? 'Accept-Encoding' : `${others}, Accept-Encoding`);
}
