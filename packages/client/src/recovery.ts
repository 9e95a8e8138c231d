import type { ChatStatus } from '@runwire/contract';
import * as routes from '@runwire/contract/routes';
import { ConnectionLostError, errorOfAnswer, RunwireError } from './errors.ts';
import type { Admission, Frame, RunHandle } from './run-types.ts';
import { readFrames } from './sse.ts';
import { pauseMs, sleep, Watchdog } from './timing.ts';
import { fill, type Route, type Transport } from './transport.ts';

/** A run that is being read. */
export interface ReadRun {
  readonly transport: Transport;
  /** The position of the reader. It changes while the run is read. */
  readonly place: { -readonly [Key in keyof RunHandle]: RunHandle[Key] };
  /** The request, the same bytes for every send. Null if the run is only attached to. */
  readonly body: string | null;
  readonly signal: AbortSignal;
  readonly onAdmitted: (admission: Admission) => void;
}

/** Slow links may take one second per this many bytes of a request. */
const BYTES_PER_SECOND = 65_536;

/*
 *            ┌────────── status: run_not_found ──────────┐
 *            ▼                                           │
 *   ──▶ send the request ── no header, or a later false ─┴▶ ask the chat status ── 200 ──┐
 *            │   │                                                                       │
 *            │   └─ first `false`: refused; send again if it is retryable                ▼
 *            └── `true` ──▶ read ── cut, silence, end without `end` ──▶ open the events after the last id
 *                            ▲ │                                                   │   │
 *                            │ └──▶ `end`: done                            204 ◀───┘   │
 *                            └─────────────────────────────────────────────────────────┘
 */

/** Starts or attaches to a run, and yields each of its events once, in order, whatever happens to connections. */
export async function* readRun(run: ReadRun): AsyncGenerator<Frame> {
  const contact = new Contact(run);
  let stream = run.body === null ? null : await start(run, contact, run.body);
  if (run.place.runId === null) await findRun(run, contact);
  for (;;) {
    stream ??= await openEvents(run, contact);
    if (stream === null) return;
    try {
      for await (const frame of framesOf(run, stream, contact)) {
        run.place.lastEventId = frame.id;
        contact.made();
        yield frame;
        if (frame.event === 'end') return;
      }
    } catch (error) {
      contact.failed(error);
    }
    stream = null;
    await contact.pause();
  }
}

/** Sends the request until a run exists. Returns its stream, or null if the events must be opened. */
async function start(run: ReadRun, contact: Contact, body: string): Promise<Exchange | null> {
  const giveUpAt = Date.now() + run.transport.timing.giveUpMs;
  for (let sends = 1; ; sends += 1) {
    const sent = await contact.send(routes.getCompletionV2, { body });
    const headerOf = (name: string) => decodeURIComponent(sent?.answer.headers.get(name) ?? '');
    const header = headerOf('x-agent-run-admitted');
    if (sent !== null && header === 'true') {
      const ids = { runId: headerOf('x-run-id'), chatId: headerOf('x-chat-id') };
      admit(run, ids, headerOf('x-run-replayed') === 'true');
      if (headerOf('content-type').startsWith('text/event-stream')) return sent;
      // In Text Only Mode the events are at their own address.
      sent.watchdog.bite();
      return null;
    }
    const isRefused = header === 'false' && sends === 1;
    if (!isRefused && (await findRun(run, contact))) return null;
    // Here nothing is reserved. A proxy's own 4xx would be repeated for ever.
    const error = sent?.error;
    if (!error || (header !== 'false' && (error.status ?? 0) >= 500)) {
      await contact.pause();
      continue;
    }
    const waitMs = error.retryAfterSeconds === null ? contact.nextPause() : error.retryAfterSeconds * 1000;
    if (!error.retryable || Date.now() + waitMs > giveUpAt) throw Object.assign(error, { admitted: false });
    await sleep(waitMs, run.signal);
    contact.heard();
  }
}

/** The run is stored on the server. */
function admit({ place, onAdmitted }: ReadRun, ids: Partial<RunHandle>, replayed: boolean): void {
  Object.assign(place, ids);
  onAdmitted({ runId: place.runId ?? '', chatId: place.chatId ?? '', replayed });
}

/** Asks the chat status until it answers. Returns false if no run has the id, but the request can be sent again. */
async function findRun(run: ReadRun, contact: Contact): Promise<boolean> {
  const query = `?usageRequestId=${encodeURIComponent(String(run.place.usageRequestId))}`;
  for (;;) {
    const sent = await contact.send(routes.getChatStatus, { query });
    if (run.body !== null && sent?.error?.code === 'run_not_found') return false;
    contact.throwIfFinal(sent, 'unknown');
    const status = sent?.error === null && (await contact.jsonOf<ChatStatus>(sent));
    if (status && status.run !== null) {
      admit(run, { runId: status.run.runId, chatId: status.chatId }, run.body === null);
      return true;
    }
    await contact.pause();
  }
}

/** Opens the events after the last id. Returns null if the run has ended and there are no more. */
async function openEvents(run: ReadRun, contact: Contact): Promise<Exchange | null> {
  for (;;) {
    const { lastEventId } = run.place;
    const headers = lastEventId === 0 ? {} : { 'last-event-id': String(lastEventId) };
    const sent = await contact.send(routes.getRunEvents, { headers });
    contact.throwIfFinal(sent, true);
    if (sent?.error === null) {
      admit(run, {}, true);
      if (sent.answer.status === 200) return sent;
      sent.watchdog.stop();
      return null;
    }
    await contact.pause();
  }
}

async function* framesOf({ place, transport }: ReadRun, { answer, watchdog }: Exchange, contact: Contact) {
  const onBytes = () => {
    contact.heard();
    watchdog.restart(transport.timing.silenceMs);
  };
  try {
    onBytes();
    for await (const frame of readFrames(answer.body as ReadableStream<Uint8Array>, watchdog.signal, onBytes)) {
      // A repeated request is answered from the start of the run.
      if (frame.id > place.lastEventId) yield frame;
    }
  } finally {
    watchdog.stop();
  }
}

interface Exchange {
  readonly answer: Response;
  /** The error of an answer that is no success. */
  readonly error: RunwireError | null;
  readonly watchdog: Watchdog;
}

/** The contact with the server: it pauses between attempts, and gives up if there was no contact for too long. */
class Contact {
  readonly #run: ReadRun;
  #retries = 0;
  #lastAt = Date.now();
  #cause: unknown;

  constructor(run: ReadRun) {
    this.#run = run;
  }

  /** An event arrived. */
  made(): void {
    this.heard();
    this.#retries = 0;
  }

  /** Bytes of a stream arrived, for example a comment. */
  heard(): void {
    this.#lastAt = Date.now();
  }

  nextPause(): number {
    this.#retries += 1;
    return pauseMs(this.#run.transport.timing, this.#retries - 1);
  }

  /** Notes why an attempt failed. Throws if the reader detached, or if a new attempt cannot help. */
  failed(error: unknown): null {
    this.#run.signal.throwIfAborted();
    if (error instanceof RunwireError) throw error;
    this.#cause = error;
    return null;
  }

  async pause(): Promise<void> {
    const { transport, place, signal } = this.#run;
    const { giveUpMs } = transport.timing;
    const leftMs = this.#lastAt + giveUpMs - Date.now();
    if (leftMs <= 0) {
      const message = `No contact with the server for ${giveUpMs / 1000} s; attach to the run by its handle later.`;
      throw new ConnectionLostError({ ...place }, 'connection_lost', message, this.#cause);
    }
    await sleep(Math.min(this.nextPause(), leftMs), signal);
  }

  /** Resolves to null if no answer arrived, or if a refusal was cut. */
  async send(
    route: Route,
    { query = '', ...request }: { query?: string; body?: string; headers?: Record<string, string> },
  ): Promise<Exchange | null> {
    const { transport, place, signal } = this.#run;
    const sendingMs = (1000 * (request.body?.length ?? 0)) / BYTES_PER_SECOND;
    const watchdog = new Watchdog(transport.timing.silenceMs + sendingMs, signal);
    try {
      const { method, path } = fill(route, { ...place });
      const answer = await transport.send({ method, path: path + query, ...request, signal: watchdog.signal });
      if (answer.ok) return { answer, error: null, watchdog };
      const error = await errorOfAnswer(answer);
      this.#cause = error;
      watchdog.stop();
      return { answer, error, watchdog };
    } catch (error) {
      watchdog.stop();
      return this.failed(error);
    }
  }

  /** Resolves to null if the answer was cut. */
  jsonOf<T>({ answer, watchdog }: Exchange): Promise<T | null> {
    return (answer.json() as Promise<T>).catch((error: unknown) => this.failed(error)).finally(() => watchdog.stop());
  }

  /** Throws a refusal that would be the same again. */
  throwIfFinal(sent: Exchange | null, admitted: true | 'unknown'): void {
    const status = sent?.error?.status ?? 500;
    if (status < 500 && status !== 408 && status !== 429) throw Object.assign(sent?.error ?? {}, { admitted });
  }
}
