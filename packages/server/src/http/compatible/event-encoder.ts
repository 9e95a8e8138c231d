import { lastFrameId, type RunEvent } from '../../domain/run/events.ts';
import { type EncodedPage, type Encoder, STREAM_HEADERS } from '../encoders/encoder.ts';

export const SSE_HEADERS = { ...STREAM_HEADERS, 'content-type': 'text/event-stream; charset=utf-8' };

/**
 * Encodes whole events, one reader at a time: it may remember what its reader got. It always begins at the first event of
 * the run. `encode` returns the frames of an event, an empty text if it has none, or null if the connection must break, because
 * the framing cannot show what has happened.
 */
export abstract class EventEncoder implements Encoder {
  readonly headers: Readonly<Record<string, string>> = SSE_HEADERS;
  readonly heartbeat: string | null = ': \n\n';

  protected abstract encode(event: RunEvent): string | null;

  page(events: readonly RunEvent[], from: number, cursor: number, maxChars: number): EncodedPage {
    let data = '';
    let last = cursor;
    let next = from;
    let breaksOff = false;
    for (; next < events.length && !breaksOff; next += 1) {
      if (data.length > maxChars) break;
      const event = events[next] as RunEvent;
      const frames = this.encode(event);
      breaksOff = frames === null;
      data += frames ?? '';
      last = lastFrameId(event);
    }
    return { data, next, cursor: last, breaksOff };
  }
}
