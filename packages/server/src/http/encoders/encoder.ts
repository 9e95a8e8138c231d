import type { RunEvent } from '../../domain/run/events.ts';
import type { PageBytes } from './page-bytes.ts';

export interface EncodedPage {
  /** Bytes if readers share the page. They are valid until the next page is made. Empty if these events have no frames. */
  readonly data: string | PageBytes;
  /** Index of the first event that is not completely in the page. */
  readonly next: number;
  /** Id of the last frame that is in the page or was skipped. */
  readonly cursor: number;
  /** True if the answer must not look complete: the connection is broken off after `data`. */
  readonly breaksOff: boolean;
  /** True if the answer ends with `data`, although the run may continue. */
  readonly ends?: boolean;
  /** Called after the page was handed to the socket. More may follow it, so it is not sent together with the end of the body. */
  readonly onSent?: () => void;
}

/**
 * One framing of the events of a run. The engine does not know the framings. Stored and hot events give equal bytes.
 */
export interface Encoder {
  readonly headers: Readonly<Record<string, string>>;
  /** Sent immediately, and then during silence. Null if the framing has nothing that a reader skips. */
  readonly heartbeat: string | null;
  /** After this many heartbeats the answer ends with `data`, although the run is active. Absent if it waits for the run. */
  readonly lastHeartbeat?: { readonly count: number; readonly data: () => string };
  /**
   * Returns frames of `events` from `from` on with ids after `cursor`: at least one, and as many as fit into about
   * `maxBytes`. It may stop between one event's frames, because three frames at the end of a message contain its
   * full text.
   */
  page(events: readonly RunEvent[], from: number, cursor: number, maxBytes: number): EncodedPage;
}

export const STREAM_HEADERS = {
  // Without `X-Accel-Buffering: no`, nginx as packaged by Debian buffers the complete stream.
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
