import type { RunEvent } from '../../domain/events.ts';

export interface EncodedPage {
  /** Bytes where several readers share the page, so that it is encoded once. */
  readonly data: string | Buffer;
  /** The place of the first event that is not in it. */
  readonly next: number;
}

/** One framing of a run's events. The engine knows none of them; stored and hot events give equal bytes. */
export interface Encoder {
  /** Frames of `events` from `from` on with ids after `cursor`: at least one event, and no more once past `maxChars`. */
  page(events: readonly RunEvent[], from: number, cursor: number, maxChars: number): EncodedPage;
}
