import type { ChatStatus } from '@runwire/contract';
import * as routes from '@runwire/contract/routes';
import { RunwireError } from './errors.ts';
import type { Admission, Frame, RunHandle } from './run-types.ts';
import { readFrames } from './sse.ts';
import { pauseMs, sleep, type Watchdog } from './timing.ts';
import { checkedId, type Exchange, fill, type Read, type Route, type Transport, toJson } from './transport.ts';

/** A run that is being read. */
export interface ReadRun {
  readonly transport: Transport;
  /** The reader's position. It changes while the run is read. */
  readonly place: { -readonly [Key in keyof RunHandle]: RunHandle[Key] };
  /** The request, the same bytes for every send. Null if the run is only attached to. */
  readonly body: string | null;
  /** The operation of the request. */
  readonly route: Route;
  /** The run that the request runs again. Undefined if it starts another one. */
  readonly original: string | undefined;
  readonly signal: AbortSignal;
  readonly onAdmitted: (admission: Admission) => void;
}

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
  if (run.place.runId == null) await findRun(run, contact);
  for (;;) {
    stream ??= await openEvents(run, contact);
    if (stream === null) return;
    try {
      for await (const frame of getFrames(run, stream, contact)) {
        run.place.lastEventId = frame.id;
        contact.eventArrived();
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
async function start(run: ReadRun, contact: Contact, body: string): Promise<RunStream | null> {
  const giveUpAt = Date.now() + run.transport.timing.giveUpMs;
  for (let sends = 1; ; sends += 1) {
    const sent = await contact.send(run.route, openStream, { body });
    const getHeader = (name: string) => decodeURIComponent(sent?.answer.headers.get(name) ?? '');
    const header = getHeader('x-agent-run-admitted');
    if (sent !== null && header === 'true') {
      const ids = { runId: getHeader('x-run-id') || null, chatId: getHeader('x-chat-id') };
      // If a proxy removed the run's id, the chat status has it.
      if (ids.runId !== null) admit(run, ids, getHeader('x-run-replayed') === 'true');
      if (getHeader('content-type').startsWith('text/event-stream')) return sent.value;
      // In Text Only Mode the events are at their own address.
      sent.value?.watchdog.abort();
      return null;
    }
    const isRefused = header === 'false' && sends === 1;
    if (!isRefused && (await findRun(run, contact))) return null;
    // Here nothing is reserved. The same 4xx of a proxy would follow every send.
    const error = sent?.error;
    if (!error || (header !== 'false' && (error.status ?? 0) >= 500)) {
      await contact.pause();
      continue;
    }
    const waitMs = error.retryAfterSeconds === null ? contact.nextPause() : error.retryAfterSeconds * 1000;
    if (!error.retryable || Date.now() + waitMs > giveUpAt) throw Object.assign(error, { admitted: false });
    await sleep(waitMs, run.signal);
    contact.bytesArrived();
  }
}

/** The run is stored on the server. */
function admit({ place, onAdmitted }: ReadRun, ids: Partial<RunHandle>, replayed: boolean): void {
  Object.assign(place, ids);
  onAdmitted({ runId: place.runId ?? '', chatId: place.chatId ?? '', replayed });
}

/** Asks the chat status until it answers. Returns false if no run has the id, but the request can be sent again. */
async function findRun(run: ReadRun, contact: Contact): Promise<boolean> {
  const query = `?usageRequestId=${encodeURIComponent(checkedId('usageRequestId', run.place.usageRequestId))}`;
  for (;;) {
    const sent = await contact.send(routes.getChatStatus, toJson, { query });
    if (run.body !== null && sent?.error?.code === 'run_not_found') return false;
    contact.throwIfFinal(sent, 'unknown');
    const status = sent?.value as ChatStatus | undefined;
    if (status?.run) {
      const ids = { runId: status.run.runId, chatId: status.chatId };
      if (run.body === null) Object.assign(run.place, ids);
      else admit(run, ids, false);
      return true;
    }
    await contact.pause();
  }
}

/** Opens the events after the last id. Returns null if the run has ended and there are no more. */
async function openEvents(run: ReadRun, contact: Contact): Promise<RunStream | null> {
  for (;;) {
    const { lastEventId } = run.place;
    const headers = lastEventId === 0 ? {} : { 'last-event-id': String(lastEventId) };
    const sent = await contact.send(routes.getRunEvents, openStream, { headers });
    contact.throwIfFinal(sent, true);
    if (sent?.value) {
      if (sent.answer.status !== 200) return null;
      admit(run, {}, true);
      return sent.value;
    }
    await contact.pause();
  }
}

async function* getFrames({ place }: ReadRun, { answer, watchdog }: RunStream, contact: Contact) {
  const onBytes = () => {
    contact.bytesArrived();
    watchdog.restart();
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

interface RunStream {
  readonly answer: Response;
  readonly watchdog: Watchdog;
}

/** Leaves the reading to `getFrames`. */
const openStream: Read<RunStream> = (answer, watchdog) => ({ answer, watchdog });

/** The contact with the server: it pauses between attempts, and gives up if there was no contact for too long. */
class Contact {
  readonly #run: ReadRun;
  #retries = 0;
  #lastAt = Date.now();
  #cause: unknown;

  constructor(run: ReadRun) {
    this.#run = run;
  }

  eventArrived(): void {
    this.bytesArrived();
    this.#retries = 0;
  }

  /** Also for bytes that are no event, for example a comment. */
  bytesArrived(): void {
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
    this.#leftMs();
    return null;
  }

  async pause(): Promise<void> {
    await sleep(Math.min(this.nextPause(), this.#leftMs()), this.#run.signal);
  }

  /** How long attempts may continue. Throws if there was no contact for too long. */
  #leftMs(): number {
    const { transport, place } = this.#run;
    const { hasAnswered, timing } = transport;
    const limitMs = hasAnswered ? timing.giveUpMs : Math.min(timing.connectMs, timing.giveUpMs);
    const leftMs = this.#lastAt + limitMs - Date.now();
    if (leftMs > 0) return leftMs;
    const advice = hasAnswered ? 'attach to the run by its handle later' : undefined;
    throw transport.lost({ ...place }, this.#cause, advice);
  }

  /** Resolves to null if no whole answer arrived. */
  async send<T>(
    route: Route,
    read: Read<T>,
    { query = '', ...request }: { query?: string; body?: string; headers?: Record<string, string> },
  ): Promise<Exchange<T> | null> {
    const { transport, place, original, signal } = this.#run;
    const { method, path } = fill(route, { ...place, runId: place.runId ?? original });
    try {
      const sent = await transport.exchange({ method, path: path + query, ...request }, read, signal);
      this.#cause = sent.error;
      return sent;
    } catch (error) {
      return this.failed(error);
    }
  }

  /** Throws a refusal that would be the same again. */
  throwIfFinal(sent: Exchange<unknown> | null, admitted: true | 'unknown'): void {
    const status = sent?.error?.status ?? 500;
    if (status < 500 && status !== 408 && status !== 429) throw Object.assign(sent?.error ?? {}, { admitted });
  }
}
