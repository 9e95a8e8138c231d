import type { RunEvent } from '../../domain/run/events.ts';
import type { WaitAt } from '../../domain/wait-points.ts';
import type { EncodedPage, Encoder } from './encoder.ts';

/** Sends each event separately, with wait points before and after `messages` and `end`. */
export class StagedEncoder implements Encoder {
  readonly headers: Encoder['headers'];
  readonly heartbeat: string | null;
  readonly lastHeartbeat?: NonNullable<Encoder['lastHeartbeat']>;
  readonly #encoder: Encoder;
  readonly #waitAt: WaitAt;
  readonly #holds: () => boolean;

  constructor(encoder: Encoder, waitAt: WaitAt, holds: () => boolean) {
    this.headers = encoder.headers;
    this.heartbeat = encoder.heartbeat;
    if (encoder.lastHeartbeat !== undefined) this.lastHeartbeat = encoder.lastHeartbeat;
    this.#encoder = encoder;
    this.#waitAt = waitAt;
    this.#holds = holds;
  }

  page(events: readonly RunEvent[], from: number, cursor: number, maxBytes: number): EncodedPage {
    const event = events[from] as RunEvent;
    const frame = event.type === 'end' ? 'end-frame' : event.type === 'messages' ? 'messages' : null;
    if (frame !== null) this.#waitAt(`${frame}.before`);
    // The node lost its lease while the test held it.
    if (this.#holds()) return { data: '', next: from, cursor, breaksOff: false };
    const page = this.#encoder.page([event], 0, cursor, maxBytes);
    const onSent = frame === null ? () => {} : () => this.#waitAt(`${frame}.after`);
    return { ...page, next: from + page.next, onSent };
  }
}
