import type { RunEvent } from '../../domain/events.ts';

export interface EncodedPage {
  /** Bytes where several readers share the page, so that it is encoded once. Empty: these events show nothing. */
  readonly data: string | Buffer;
  /** The place of the first event that is not wholly in it. */
  readonly next: number;
  /** The id of the last frame that is in it, or passed over by it. */
  readonly cursor: number;
  /** The answer must not look whole: after `data` the connection breaks off. */
  readonly breaksOff: boolean;
}

/** One framing of a run's events. The engine knows none of them; stored and hot events give equal bytes. */
export interface Encoder {
  readonly headers: Readonly<Record<string, string>>;
  /** Sent at once and in every silence; null where the framing has nothing that a reader would skip. */
  readonly heartbeat: string | null;
  /**
   * Frames of `events` from `from` on with ids after `cursor`: one, or as many as stay within about `maxChars`. It may
   * stop between the frames of one event: three of a message's end hold its whole text.
   */
  page(events: readonly RunEvent[], from: number, cursor: number, maxChars: number): EncodedPage;
}

export const STREAM_HEADERS = {
  // nginx as Debian ships it holds the whole stream back without `X-Accel-Buffering: no`.
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
