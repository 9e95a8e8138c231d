import type { IncomingMessage } from 'node:http';
import { operations } from '@runwire/contract/schemas';
import type { FairBudget, Hold } from '@runwire/lib/fair-budget.ts';
import { JsonRefused, parseStrictJson, type StrictJsonLimits } from '@runwire/lib/strict-json.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from '../../domain/refusal.ts';
import { COMPLETION_PATH } from '../paths.ts';
import { InlineFiles } from './inline-files.ts';
import { isUtf8Json } from './json-type.ts';
import { JsonWorker, type ParsedBody } from './json-worker.ts';
import { type Extraction, takeOut } from './take-out.ts';
import { imageFields } from './take-out-images.ts';

export interface BodyLimits {
  readonly bodyBytes: number;
  readonly bodyDepth: number;
  readonly bodyValues: number;
  /** A larger body is parsed on another thread: 15 MiB of small objects take a second. */
  readonly bodyThreadBytes: number;
  /** Maximum size of one decoded inline image. */
  readonly imageBytes: number;
  /** Maximum size of one other decoded file, which only compatible APIs have. */
  readonly attachmentBytes: number;
}

/** The paths whose bodies have attachments. */
const WITH_ATTACHMENTS: ReadonlySet<string> = new Set([COMPLETION_PATH, operations.createChat.path]);

declare module 'fastify' {
  interface FastifyRequest {
    inlineFiles: InlineFiles | null;
  }
}

/**
 * Ignores the error of a caller that leaves while the rest of its body is discarded. This is not a closure in `#read`: the
 * listener lives as long as the request, and would keep the body's bytes in memory while the answer streams.
 */
const ignore = () => {};

export interface BodyBudgets {
  /** Bytes of all bodies that are being read and parsed. */
  readonly bytes: FairBudget;
  /** Large bodies are parsed one by one; owners take turns. */
  readonly parsing: FairBudget;
}

/** All callers without a key have one share of the budgets together, like an owner. */
const getSender = ({ principal }: FastifyRequest): string => principal?.ownerId ?? '';

function tooLarge(maxBytes: number): Refusal {
  const sentence = `The request body is larger than ${maxBytes} bytes; send less, or upload files instead of sending them inline.`;
  return new Refusal('body_too_large', sentence);
}

function refuseFirstByte(
  request: FastifyRequest,
  payload: IncomingMessage,
  done: (error: Error | null, body?: unknown) => void,
): void {
  if (Number(request.headers['content-length']) > 0) {
    done(new Refusal('unsupported_media_type'));
    return;
  }
  const end = (error: Error | null) => {
    payload.off('data', onData).off('end', onEnd).off('timeout', onSlow).off('close', onGone);
    payload.on('error', ignore);
    done(error, undefined);
  };
  const onData = () => end(new Refusal('unsupported_media_type'));
  const onEnd = () => end(null);
  const onSlow = () => end(new Refusal('request_timeout'));
  const onGone = () => end(new Refusal('invalid_request', 'The connection closed before the whole body arrived.'));
  payload.on('data', onData).on('end', onEnd).on('timeout', onSlow).on('close', onGone);
  payload.resume();
}

/** Reads JSON bodies, within the limits of one body and of all bodies together. */
export class BodyReader implements AsyncDisposable {
  readonly #limits: BodyLimits;
  readonly #json: StrictJsonLimits;
  readonly #images: Extraction;
  readonly #parts: Extraction;
  readonly #worker = new JsonWorker();
  readonly #budgets: BodyBudgets;
  readonly #closing = new AbortController();

  constructor(limits: BodyLimits, budgets: BodyBudgets) {
    this.#limits = limits;
    this.#budgets = budgets;
    this.#json = { maxDepth: limits.bodyDepth, maxValues: limits.bodyValues };
    const { imageBytes, attachmentBytes } = limits;
    this.#images = { images: imageFields(imageBytes) };
    this.#parts = { parts: { imageBytes, attachmentBytes } };
  }

  /** Bytes that were received and are not parsed yet, and inline files that are not stored yet. */
  get heldBytes(): number {
    return this.#budgets.bytes.held;
  }

  register(app: FastifyInstance): void {
    app.addContentTypeParser('application/json', (request: FastifyRequest, payload: IncomingMessage, done) =>
      this.#read(request, payload, done),
    );
    // For every other media type: an empty body of any type counts as no body, so the first byte decides.
    app.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage, done) =>
      refuseFirstByte(request, payload, done),
    );
    app.addHook('preParsing', (request, _reply, payload, done) => {
      const type = request.headers['content-type'];
      // Without a type Fastify uses the parser `*`; it would refuse a type that it cannot read itself.
      if (type !== undefined && !isUtf8Json(type)) delete request.headers['content-type'];
      done(null, payload);
    });
    app.decorateRequest('inlineFiles', null);
    // Releases the files after every refusal and failure. The connection's `close` is not enough: if the caller leaves
    // while its body is being parsed, `close` is emitted before the files exist.
    app.addHook('onError', (request, _reply, _error, done) => {
      request.inlineFiles?.release();
      done();
    });
  }

  #read(request: FastifyRequest, payload: IncomingMessage, done: (error: Error | null, body?: unknown) => void): void {
    const bodyBytes = request.routeOptions.bodyLimit;
    const announced = request.headers['content-length'];
    if (Number(announced) > bodyBytes) {
      done(tooLarge(bodyBytes));
      return;
    }
    const chunks: Buffer[] = [];
    let length = 0;
    const hold = this.#budgets.bytes.hold(getSender(request));
    const stop = (error: Error) => {
      unlisten();
      hold[Symbol.dispose]();
      done(error);
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > bodyBytes) stop(tooLarge(bodyBytes));
      else if (!hold.tryGrow(chunk.length)) stop(new Refusal('unavailable', undefined, {}, 1));
      else chunks.push(chunk);
    };
    const onEnd = () => {
      unlisten();
      if (announced !== undefined && Number(announced) !== length) {
        stop(new Refusal('invalid_request', 'The body does not have the length that `Content-Length` gives.'));
      } else if (length === 0) done(null, undefined);
      else this.#parse(request, chunks.splice(0), hold, done);
    };
    const onGone = () => stop(new Refusal('invalid_request', 'The connection closed before the whole body arrived.'));
    // Emitted by `RequestDeadlines`.
    const onSlow = () => stop(new Refusal('request_timeout'));
    const unlisten = () => {
      payload.off('data', onData).off('end', onEnd).off('timeout', onSlow).off('error', onGone).off('close', onGone);
      payload.on('error', ignore);
    };
    payload.on('data', onData).on('end', onEnd).on('timeout', onSlow).on('error', onGone).on('close', onGone);
    payload.resume();
  }

  #parse(
    request: FastifyRequest,
    chunks: readonly Buffer[],
    hold: Hold,
    done: (error: Error | null, body?: unknown) => void,
  ): void {
    const length = hold.amount;
    const extraction = this.#extraction(request);
    const accept = ({ value, files }: ParsedBody) => {
      if (files.length > 0) request.inlineFiles = new InlineFiles(files, hold);
      else hold[Symbol.dispose]();
      done(null, value);
    };
    const refuse = (error: unknown) => {
      hold[Symbol.dispose]();
      done(error instanceof JsonRefused ? new Refusal('invalid_request', error.message) : (error as Error));
    };
    if (length > this.#limits.bodyThreadBytes) {
      const bytes = new Uint8Array(length);
      let offset = 0;
      for (const chunk of chunks) {
        bytes.set(chunk, offset);
        offset += chunk.length;
      }
      this.#parseInTurn(getSender(request), bytes, extraction).then(accept, refuse);
      return;
    }
    let body: ParsedBody;
    try {
      const value = parseStrictJson(Buffer.concat(chunks, length), this.#json);
      body = { value, files: extraction === null ? [] : takeOut(value, extraction) };
    } catch (error) {
      refuse(error);
      return;
    }
    accept(body);
  }

  #extraction({ routeOptions }: FastifyRequest): Extraction | null {
    if (routeOptions.config.compatible !== undefined) return this.#parts;
    return WITH_ATTACHMENTS.has(routeOptions.url ?? '') ? this.#images : null;
  }

  async #parseInTurn(
    ownerId: string,
    bytes: Uint8Array<ArrayBuffer>,
    extraction: Extraction | null,
  ): Promise<ParsedBody> {
    using _ = await this.#budgets.parsing.reserve(ownerId, 1, this.#closing.signal);
    return await this.#worker.parse(bytes, this.#json, extraction);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    return this.#worker[Symbol.asyncDispose]();
  }
}
