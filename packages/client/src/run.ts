import type { CancelResult, CancelRunRequest, ErrorCode } from '@runwire/contract';
import * as routes from '@runwire/contract/routes';
import { type AnsweringOptions, answer, nextRequest, withTools } from './answers.ts';
import { DetachedError, QuestionsPendingError, RunCancelledError, RunFailedError } from './errors.ts';
import { toEvent, toResult } from './events.ts';
import { readRun } from './recovery.ts';
import { passOn } from './response.ts';
import type {
  Admission,
  EvaluateRequest,
  Frame,
  RunAgainRequest,
  RunEvent,
  RunHandle,
  RunRequest,
  RunResult,
} from './run-types.ts';
import { joinSignals } from './timing.ts';
import type { CallOptions, Transport } from './transport.ts';

export interface ReadOptions {
  /** Detaches: the run itself continues. */
  readonly signal?: AbortSignal;
}
export interface RunOptions extends ReadOptions, AnsweringOptions {}

export interface AttachOptions extends ReadOptions {
  /** Reads only events with a higher id. By default the run is read from its start. */
  readonly after?: number;
}

interface Entry {
  readonly frame: Frame;
  readonly event: RunEvent | null;
}

/** The request of the run that is read; null if it was started before. */
type GivenRequest = RunRequest | RunAgainRequest | EvaluateRequest | null;
/** An operation that starts a run. */
export type StartRoute = typeof routes.getCompletionV2 | typeof routes.rerunRun | typeof routes.runEval;

/** A run that is read in the background, and can be read from its start as often as needed. */
export class Run implements AsyncIterable<RunEvent> {
  /** Resolves when the server has stored the run. Rejects if it refused the request. */
  readonly admitted: Promise<Admission>;
  readonly #transport: Transport;
  readonly #reading = new AbortController();
  readonly #signal: AbortSignal;
  readonly #place: { -readonly [Key in keyof RunHandle]: RunHandle[Key] };
  readonly #answering: AnsweringOptions;
  readonly #entries: Entry[] = [];
  /** The pieces of the answer that are not void, of the current run. */
  #pieces: { readonly id: number; readonly delta: string }[] = [];
  /** The answers of the runs before, if questions were answered. */
  #textBefore = '';
  #messages: string | null = null;
  #result: RunResult | null = null;
  #isCancelled = false;
  #outcome: { readonly error?: unknown } | null = null;
  #wake: () => void = () => {};
  #next: Promise<void>;

  constructor(
    transport: Transport,
    place: RunHandle,
    request: GivenRequest,
    options: RunOptions,
    route: StartRoute = routes.getCompletionV2,
  ) {
    this.#transport = transport;
    this.#place = { ...place };
    this.#answering = options;
    this.#next = this.#nextWake();
    this.#signal = joinSignals(this.#reading.signal, options.signal);
    this.admitted = new Promise((resolve, reject) => {
      this.#read(request, route, resolve).then(
        () => {
          this.#end({});
          // A run that ended before the cursor has no event that admits it.
          resolve({ runId: this.#place.runId ?? '', chatId: this.#place.chatId ?? '', replayed: true });
        },
        (error: unknown) => {
          reject(error);
          this.#end({ error });
        },
      );
    });
    // Every reader gets the error. A caller that reads nothing gets no unhandled rejection.
    this.admitted.catch(() => {});
  }

  /** Names the run. With answered questions: the run that is being read. */
  get handle(): RunHandle {
    return { ...this.#place };
  }

  /** The answer so far, without void text. */
  get currentText(): string {
    return this.#textBefore + this.#pieces.map(({ delta }) => delta).join('');
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent, void> {
    for await (const { event } of this.#entriesFromStart()) if (event !== null) yield event;
  }

  /** The events as sent. */
  async *frames(): AsyncGenerator<Frame, void> {
    for await (const { frame } of this.#entriesFromStart()) yield frame;
  }

  /** The whole answer. Rejects unless the run completed without open questions. */
  async text(): Promise<string> {
    const result = await this.result();
    const { status, error, text, pending } = result;
    if (status === 'cancelled') throw new RunCancelledError(result, 'run_cancelled', 'The run was cancelled.');
    if (error !== null) throw new RunFailedError(result, error.code as ErrorCode, error.message);
    if (pending.length > 0) {
      const message = 'The run waits: pass `onApproval` or `tools`, or answer `pending` next.';
      throw new QuestionsPendingError(result, 'questions_pending', message);
    }
    return text;
  }

  /** How the run ended, whatever its end. */
  async result(): Promise<RunResult> {
    while (this.#outcome === null) await this.#next;
    if ('error' in this.#outcome) throw this.#outcome.error;
    // A reader that attached after the last events has no result: another one reads the whole run.
    const whole = { ...this.#place, lastEventId: 0 };
    return this.#result ?? (await new Run(this.#transport, whole, null, { signal: this.#signal }).result());
  }

  /** Cancels the run on the server. Resolves when it has stopped, or after 10 s with the status `cancelling`. */
  async cancel(options: CancelRunRequest & CallOptions = {}): Promise<CancelResult> {
    this.#isCancelled = true;
    const { signal: _signal, ...body } = options;
    await this.admitted;
    // A run that continues with answers may be starting now.
    while (this.#place.runId === null && this.#outcome === null) await this.#next;
    const { apiIntegrationId, runId } = this.#place;
    if (runId === null) throw this.#outcome?.error;
    return await this.#transport.json(routes.cancelRun, { ...body, apiIntegrationId, runId }, options);
  }

  /** Stops reading. The run continues on the server. Readers that wait get a `DetachedError`. */
  detach(): void {
    this.#reading.abort(new DetachedError(this.handle, 'detached', 'Detached; the run continues.'));
  }

  /** Passes the run on to a reader of your own, with the same ids. A refusal becomes an answer with its status. */
  async toResponse(): Promise<Response> {
    if (this.#answering.tools !== undefined || this.#answering.onApproval !== undefined) {
      throw new TypeError('It may be several runs; read events.');
    }
    const hasEnded = () => this.#outcome !== null && this.#entries.length === 0;
    return await passOn(this.admitted, hasEnded, () => this.frames());
  }

  /** Reads the run, and the runs that continue it with answers. */
  async #read(request: GivenRequest, route: StartRoute, onAdmitted: (admission: Admission) => void): Promise<void> {
    const [transport, place, signal, answering] = [this.#transport, this.#place, this.#signal, this.#answering];
    const apiIntegrationId = await transport.integration(place.apiIntegrationId);
    place.apiIntegrationId = apiIntegrationId;
    const original = (request as Partial<RunAgainRequest> | null)?.runId;
    // Questions of a rerun and of an eval are answered in its chat.
    const first =
      request && route === routes.getCompletionV2
        ? withTools({ ...(request as RunRequest), apiIntegrationId }, answering.tools)
        : null;
    // The path names the run and the integration.
    let body = request && JSON.stringify(first ?? { ...request, runId: undefined, apiIntegrationId: undefined });
    for (let turn = 2; ; turn += 1) {
      for await (const frame of readRun({ transport, place, route, body, original, signal, onAdmitted }))
        this.#take(frame);
      if (first === null || this.#result === null || this.#isCancelled) return;
      const answers = await answer(this.#result, answering, signal);
      signal.throwIfAborted();
      if (answers === null || this.#isCancelled) return;
      const next = nextRequest(first, this.#result.chatId, answers, turn);
      body = JSON.stringify(next);
      this.#textBefore = this.#result.text;
      this.#pieces = [];
      Object.assign(place, { usageRequestId: next.usageRequestId, runId: null, lastEventId: 0 });
    }
  }

  #take(frame: Frame): void {
    let event = toEvent(frame);
    if (event?.type === 'text') this.#pieces.push(event);
    else if (event?.type === 'resumed') {
      const { discardAfter } = event;
      this.#pieces = this.#pieces.filter(({ id }) => id <= discardAfter);
    } else if (frame.event === 'messages') this.#messages = frame.data;
    else if (frame.event === 'end' && this.#messages !== null) {
      this.#result = toResult(this.#messages, this.#textBefore);
      event = { type: 'ended', id: frame.id, ...this.#result };
    }
    this.#entries.push({ frame, event });
    this.#wakeReaders();
  }

  async *#entriesFromStart(): AsyncGenerator<Entry, void> {
    for (let index = 0; ; index += 1) {
      while (index >= this.#entries.length) {
        if (this.#outcome !== null && 'error' in this.#outcome) throw this.#outcome.error;
        if (this.#outcome !== null) return;
        await this.#next;
      }
      yield this.#entries[index] as Entry;
    }
  }

  #end(outcome: { readonly error?: unknown }): void {
    this.#outcome = outcome;
    this.#wakeReaders();
  }

  #wakeReaders(): void {
    const wake = this.#wake;
    this.#next = this.#nextWake();
    wake();
  }

  #nextWake(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
