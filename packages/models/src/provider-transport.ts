import { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { AnswerEvents, type EventReader } from './answer-events.ts';
import type { ModelOutput, ModelRequest } from './model.ts';
import { ModelFailure } from './model-failure.ts';
import {
  brokenStream,
  failureOfConnection,
  failureOfStatus,
  invalidAnswer,
  type ProviderFailure,
  type ProviderTarget,
  silenceFailure,
} from './provider-failure.ts';
import type { RequestBody, StreamedBody } from './request-body.ts';
import { type AnswerHeaders, retryAdvice } from './retry-advice.ts';
import { type Attempt, NotNow, retryCalls } from './retry-calls.ts';
import { SseTooLarge } from './sse-decoder.ts';

const MAX_ERROR_BYTES = 64 * 1024;
/** How long a connection may take to end after the last event. If it takes longer, it is closed and not reused. */
const LINGER_MS = 1000;

/** What arrived with a status other than 200. */
interface Refusal {
  readonly headers: AnswerHeaders;
  readonly body: Buffer[];
  bytes: number;
}

const checkSilence = (answer: Answer): void => answer.onSilence();

export interface ProviderEndpoint {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** The headers that carry the key, and the headers that the protocol requires. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long the provider may send nothing, also before its first byte. */
  readonly silenceMs: number;
}

export interface StreamCall {
  readonly target: ProviderTarget;
  readonly path: string;
  /** Null unless the agency propagates traces. */
  readonly traceparent?: string | undefined;
  /** Made once for all attempts. Null after the first output: then there is no other attempt, and a stream may be long. */
  body: RequestBody | null;
  readonly signal: AbortSignal;
  readonly output: Pick<ModelOutput, 'begun' | 'isFull' | 'onceRoom'>;
  /** Called before each attempt except the first, and again after the connection is open, which may have taken long. */
  readonly mayCall: (() => Promise<void> | null) | undefined;
  readonly tries?: ModelRequest['tries'];
  /** Each attempt has its own reader, so that half of a failed answer leaves nothing in the next one. */
  newReader(): EventReader;
}

/** Posts requests and passes on their answers' events. Connections are reused. */
export class ProviderTransport implements AsyncDisposable {
  readonly #agent = new Agent({ keepAliveTimeout: 30_000, headersTimeout: 0, bodyTimeout: 0 });
  readonly #origin: string;
  readonly #basePath: string;
  readonly #headers: Record<string, string>;
  readonly #silenceMs: number;

  constructor({ baseUrl, headers, silenceMs }: ProviderEndpoint) {
    const url = new URL(baseUrl);
    this.#origin = url.origin;
    this.#basePath = url.pathname === '/' ? '' : url.pathname;
    this.#silenceMs = silenceMs;
    this.#headers = {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'user-agent': 'runwire',
      ...headers,
    };
  }

  /** Resolves to the reader that took the last event. Rejects with a `ModelFailure`, or with the signal's reason. */
  stream(call: StreamCall): Promise<EventReader> {
    return retryCalls(call, () => this.#attempt(call));
  }

  #attempt(call: StreamCall): Answer {
    const { body } = call;
    if (body === null) throw new Error('The call cannot be repeated.');
    const answer = new Answer(call, this.#silenceMs);
    const { traceparent } = call;
    const request: Dispatcher.DispatchOptions = {
      origin: this.#origin,
      path: this.#basePath + call.path,
      method: 'POST',
      headers: {
        ...this.#headers,
        'content-length': String(body.length),
        ...(traceparent === undefined ? {} : { traceparent }),
      },
      body: Buffer.isBuffer(body) ? new SentBytes(call).asIterable : answer.sending(body),
    };
    this.#agent.dispatch(request, answer);
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy();
  }
}

/**
 * A request's bytes. undici keeps a request's body until its answer has ended. It keeps this object instead of the
 * bytes, which the call releases earlier.
 */
class SentBytes implements Iterable<Buffer> {
  readonly #call: StreamCall;

  constructor(call: StreamCall) {
    this.#call = call;
  }

  /** undici accepts every iterable, but its types do not list them. */
  get asIterable(): Buffer {
    return this as unknown as Buffer;
  }

  *[Symbol.iterator](): Iterator<Buffer> {
    const { body } = this.#call;
    if (Buffer.isBuffer(body)) yield body;
  }
}

/**
 * Listens to a call's signal, and forgets the answer when the call is over. If the answer itself is the listener, most
 * finished answers reach the old generation with all that they refer to (decision 0092).
 */
class AbortLink implements EventListenerObject {
  answer: Answer | null;

  constructor(answer: Answer) {
    this.answer = answer;
  }

  handleEvent(): void {
    this.answer?.onAbort();
  }
}

/**
 * Processes one answer while it arrives. It uses the handlers of undici, which cost a sixth less per run than its
 * streams.
 */
class Answer implements Dispatcher.DispatchHandler, Attempt<EventReader> {
  readonly done: Promise<EventReader>;
  readonly #call: StreamCall;
  readonly #reader: EventReader;
  readonly #resolve: (reader: EventReader) => void;
  readonly #reject: (error: unknown) => void;
  readonly #events: AnswerEvents;
  readonly #silenceMs: number;
  readonly #abortLink = new AbortLink(this);
  #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #settled = false;
  /** True while nothing is read from the provider. Its data waits in the socket. */
  #isPaused = false;
  #ended = false;
  #status = 0;
  /** Null unless the provider refused the request. */
  #refusal: Refusal | null = null;

  constructor(call: StreamCall, silenceMs: number) {
    const { promise, resolve, reject } = Promise.withResolvers<EventReader>();
    this.done = promise;
    this.#call = call;
    this.#reader = call.newReader();
    this.#resolve = resolve;
    this.#reject = reject;
    this.#silenceMs = silenceMs;
    this.#events = new AnswerEvents(this.#reader);
    this.#timer = setTimeout(checkSilence, silenceMs, this);
    call.signal.addEventListener('abort', this.#abortLink);
  }

  hasOutput(): boolean {
    return this.#reader.hasOutput;
  }

  onAbort(): void {
    this.#fail(this.#call.signal.reason);
  }

  /** Nothing has arrived for long. The provider is not silent if this server does not read. */
  onSilence(): void {
    if (this.#isPaused) this.#timer.refresh();
    else this.#fail(silenceFailure(this.#silenceMs));
  }

  /** The provider is not silent while it receives the request. */
  sending(body: StreamedBody): Readable {
    const pieces = async function* (this: Answer) {
      for await (const piece of body.pieces()) {
        if (!this.#settled) this.#timer.refresh();
        yield piece;
      }
    };
    return Readable.from(pieces.call(this), { objectMode: false });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The call was aborted while it waited for its connection.
    if (this.#settled) controller.abort(new Error('The call is over.'));
    else {
      const until = this.#call.mayCall?.() ?? null;
      if (until !== null) this.#fail(new NotNow(until));
    }
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: AnswerHeaders): void {
    this.#timer.refresh();
    this.#status = status;
    if (status !== 200) this.#refusal = { headers, body: [], bytes: 0 };
    // They are kept to the end of the answer otherwise: 1.9 kB for each open stream.
    controller.rawHeaders = null;
    // The provider has accepted the call, even if the body is no stream.
    if (status >= 200 && status < 300 && !this.#settled) this.#call.output.begun();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    this.#timer.refresh();
    if (this.#refusal !== null) {
      this.#refusal.body.push(chunk);
      this.#refusal.bytes += chunk.length;
      if (this.#refusal.bytes >= MAX_ERROR_BYTES) this.#fail(this.#statusFailure());
      return;
    }
    try {
      if (this.#events.push(chunk)) this.#succeed();
    } catch (error) {
      this.#fail(
        error instanceof SseTooLarge ? invalidAnswer(this.#call.target, 'an event without an end', error) : error,
      );
    }
    if (this.#call.body !== null && this.#reader.hasOutput) this.#call.body = null;
    if (this.#call.output.isFull) this.#hold(controller);
  }

  /** Pauses reading because the store lags. New data waits in the kernel and then at the provider. */
  #hold(controller: Dispatcher.DispatchController): void {
    // The last pieces of a closed connection arrive in spite of a pause.
    if (this.#settled || this.#isPaused) return;
    this.#isPaused = true;
    controller.pause();
    this.#call.output.onceRoom(() => {
      this.#isPaused = false;
      if (this.#settled) return;
      this.#timer.refresh();
      controller.resume();
    });
  }

  onResponseEnd(): void {
    this.#ended = true;
    if (this.#settled) clearTimeout(this.#timer);
    else if (this.#status !== 200) this.#fail(this.#statusFailure());
    else this.#end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#ended = true;
    if (this.#settled) clearTimeout(this.#timer);
    // The request body could not be read, which is no fault of the provider.
    else if (error instanceof ModelFailure) this.#fail(error);
    else if (this.#status === 200) this.#fail(brokenStream(this.#call.target, true));
    else if (this.#status > 200) this.#fail(this.#statusFailure());
    else this.#fail(failureOfConnection(this.#call.target, error));
  }

  #end(): void {
    try {
      if (this.#reader.end()) this.#succeed();
      else this.#fail(brokenStream(this.#call.target, this.#events.hasBegun));
    } catch (error) {
      this.#fail(error);
    }
  }

  #statusFailure(): ProviderFailure {
    const { headers, body } = this.#refusal ?? { headers: {}, body: [] };
    const text = Buffer.concat(body).subarray(0, MAX_ERROR_BYTES).toString();
    return failureOfStatus(this.#call.target, this.#status, text, retryAdvice(headers));
  }

  #succeed(): void {
    this.#settle();
    if (!this.#ended) {
      this.#timer = setTimeout(() => this.#controller?.abort(new Error('The stream did not end.')), LINGER_MS);
      this.#timer.unref();
    }
    this.#resolve(this.#reader);
  }

  /** Destroys the socket first, then rejects the call. */
  #fail(error: unknown): void {
    if (this.#settled) return;
    this.#settle();
    if (!this.#ended) this.#controller?.abort(error instanceof Error ? error : new Error('The call is over.'));
    this.#reject(error);
  }

  #settle(): void {
    this.#settled = true;
    this.#events.stop();
    clearTimeout(this.#timer);
    this.#call.signal.removeEventListener('abort', this.#abortLink);
    this.#abortLink.answer = null;
  }
}
