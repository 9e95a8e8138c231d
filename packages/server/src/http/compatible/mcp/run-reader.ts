import type { Role } from '@runwire/contract';
import type { Cell } from '@runwire/lib/cells.ts';
import type { RunId } from '../../../domain/ids.ts';
import { lastFrameId, type RunEvent } from '../../../domain/run/events.ts';
import type { EventLog } from '../../../eventlog/event-log.ts';
import { Follower, type Sink } from '../../../eventlog/follow.ts';
import type { OpenReader, Streams } from '../../run-stream.ts';
import type { StreamSource } from '../../stream-source.ts';

export type EndOfRun = Extract<RunEvent, { readonly type: 'messages' }>;

/** What a caller learns while it waits for the end of a run. */
export interface RunNews {
  /** The number of events so far: it only grows. */
  readonly events: number;
  /** What an agent does, in a few words. */
  readonly text: string;
}

/** A caller that waits for a run's end. It counts as a reader, like a stream. */
export class RunReader implements Sink, OpenReader {
  readonly runId: RunId;
  readonly keyId: string | null;
  readonly role: Role;
  readonly isBehind = false;
  cell: Cell<OpenReader> | null = null;
  /** Resolves to null if the connection must break: another node continues the run, or the key was revoked. */
  readonly end: Promise<EndOfRun | null>;
  readonly #streams: Streams;
  readonly #follower: Follower;
  readonly #resolve: (end: EndOfRun | null) => void;
  readonly #onNews: ((news: RunNews) => void) | null;
  #events = 0;
  #reported = 0;
  #text = '';
  #end: EndOfRun | null = null;

  /** `onNews` is called at most once a second. */
  constructor(
    eventLog: EventLog,
    streams: Streams,
    source: StreamSource,
    onNews: ((news: RunNews) => void) | null = null,
  ) {
    const { promise, resolve } = Promise.withResolvers<EndOfRun | null>();
    this.runId = source.runId;
    this.keyId = source.keyId;
    this.role = source.role;
    this.end = promise;
    this.#resolve = resolve;
    this.#onNews = onNews;
    this.#streams = streams;
    this.#follower = new Follower(eventLog, streams.turns, source, this);
  }

  start(): void {
    this.#streams.add(this);
    this.#follower.start();
  }

  /** The caller left. */
  close(): void {
    this.#streams.delete(this);
    this.#follower.close();
    this.#resolve(null);
  }

  get full(): boolean {
    return this.#streams.holds();
  }

  take(events: readonly RunEvent[], from: number, cursor: number): number {
    let last = cursor;
    for (let index = from; index < events.length; index += 1) {
      const event = events[index] as RunEvent;
      this.#events += 1;
      this.#text = describe(event) ?? this.#text;
      if (event.type === 'messages') this.#end = event;
      last = lastFrameId(event);
    }
    return last;
  }

  finish(): void {
    this.#streams.delete(this);
    this.#resolve(this.#end);
  }

  cut(): void {
    this.close();
  }

  resume(): void {
    this.#follower.resume();
  }

  onTick(): void {
    if (this.#onNews === null || this.#events === this.#reported) return;
    this.#reported = this.#events;
    this.#onNews({ events: this.#events, text: this.#text });
  }
}

function describe(event: RunEvent): string | null {
  switch (event.type) {
    case 'response_created':
      return `${event.response.agent} is thinking.`;
    case 'item_added':
      return event.item.kind === 'message' ? `${event.item.agent} is answering.` : null;
    case 'run_item':
      return event.name === 'tool_called' && event.item.kind === 'tool_call'
        ? `${event.item.agent} calls \`${event.item.name}\`.`
        : null;
    case 'tool_progress':
      return event.text;
    default:
      return null;
  }
}
