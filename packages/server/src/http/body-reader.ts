import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from '../domain/refusal.ts';
import { JsonWorker, type ParsedBody } from '../lib/json-worker.ts';
import { JsonRefused, parseStrictJson, type StrictJsonLimits } from '../lib/strict-json.ts';
import { type ImagePlaces, takeOutImages } from '../lib/take-out-images.ts';
import { InlineImages } from './inline-images.ts';
import { COMPLETION_PATH } from './paths.ts';

export interface BodyLimits {
  readonly bodyBytes: number;
  readonly bodyDepth: number;
  readonly bodyValues: number;
  /** Of all bodies that are being read and parsed. */
  readonly bodiesBytes: number;
  /** A larger one is parsed beside the event loop: 15 MiB of small objects cost a second. */
  readonly bodyThreadBytes: number;
  /** Of one inline image, decoded. */
  readonly imageBytes: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    inlineImages: InlineImages | null;
  }
}

/**
 * Whoever left while the rest of a body was thrown away is nobody's fault. Not a closure of the reading: as a listener it
 * lives as long as the request, and would keep the body's bytes all the time that the answer streams.
 */
const ignore = () => {};

/** Reads JSON bodies, within what one and what all of them together may take. */
export class BodyReader implements AsyncDisposable {
  readonly #limits: BodyLimits;
  readonly #json: StrictJsonLimits;
  readonly #places: ImagePlaces;
  readonly #worker = new JsonWorker();
  #heldBytes = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
    this.#json = { maxDepth: limits.bodyDepth, maxValues: limits.bodyValues };
    this.#places = { list: 'attachments', image: 'image_url', never: 'file_url', maxBytes: limits.imageBytes };
  }

  /** Received and not yet parsed, and images that are not stored yet. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  register(app: FastifyInstance): void {
    app.addContentTypeParser('application/json', (request: FastifyRequest, payload: IncomingMessage, done) =>
      this.#read(request, payload, done),
    );
    app.decorateRequest('inlineImages', null);
    // Refused by whichever check, or failed. Not by the connection's `close`: where the caller leaves while its body is
    // parsed, it comes before there are images.
    app.addHook('onError', (request, _reply, _error, done) => {
      request.inlineImages?.release();
      done();
    });
  }

  #read(request: FastifyRequest, payload: IncomingMessage, done: (error: Error | null, body?: unknown) => void): void {
    const { bodyBytes, bodiesBytes } = this.#limits;
    const announced = request.headers['content-length'];
    if (Number(announced) > bodyBytes) {
      done(new Refusal('body_too_large'));
      return;
    }
    const chunks: Buffer[] = [];
    let length = 0;
    const finish = (error: Error | null, body?: unknown) => {
      this.#heldBytes -= length;
      length = 0;
      done(error, body);
    };
    const stop = (error: Error) => {
      unlisten();
      finish(error);
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      this.#heldBytes += chunk.length;
      if (length > bodyBytes) stop(new Refusal('body_too_large'));
      else if (this.#heldBytes > bodiesBytes) stop(new Refusal('unavailable', undefined, {}, 1));
      else chunks.push(chunk);
    };
    const onEnd = () => {
      unlisten();
      if (announced !== undefined && Number(announced) !== length) {
        finish(new Refusal('invalid_request', 'The body’s length is not the one that `Content-Length` names.'));
      } else if (length === 0) finish(null, undefined);
      else this.#parse(request, chunks.splice(0), length, finish);
    };
    const onGone = () => stop(new Refusal('invalid_request', 'The body did not come whole.'));
    const unlisten = () => {
      payload.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      payload.on('error', ignore);
    };
    payload.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
    payload.resume();
  }

  #parse(
    request: FastifyRequest,
    chunks: readonly Buffer[],
    length: number,
    finish: (error: Error | null, body?: unknown) => void,
  ): void {
    const places = request.routeOptions.url === COMPLETION_PATH ? this.#places : null;
    const accept = ({ value, taken }: ParsedBody) => {
      if (taken.length > 0) {
        const images = new InlineImages(taken, (bytes) => {
          this.#heldBytes -= bytes;
        });
        this.#heldBytes += images.heldBytes;
        request.inlineImages = images;
      }
      finish(null, value);
    };
    const refuse = (error: unknown) =>
      finish(error instanceof JsonRefused ? new Refusal('invalid_request', error.message) : (error as Error));
    if (length > this.#limits.bodyThreadBytes) {
      const bytes = new Uint8Array(length);
      let offset = 0;
      for (const chunk of chunks) {
        bytes.set(chunk, offset);
        offset += chunk.length;
      }
      this.#worker.parse(bytes, this.#json, places).then(accept, refuse);
      return;
    }
    let body: ParsedBody;
    try {
      const value = parseStrictJson(Buffer.concat(chunks, length), this.#json);
      body = { value, taken: places === null ? [] : takeOutImages(value, places) };
    } catch (error) {
      refuse(error);
      return;
    }
    accept(body);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#worker[Symbol.asyncDispose]();
  }
}
