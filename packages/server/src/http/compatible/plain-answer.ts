import { lastFrameId, type RunEvent } from '../../domain/run/events.ts';
import { type EncodedPage, type Encoder, STREAM_HEADERS } from '../encoders/encoder.ts';

const HEADERS = { ...STREAM_HEADERS, 'content-type': 'application/json; charset=utf-8' };

/** A plain answer ends after so many heartbeats, 570 s: clients give up after 10 minutes and post the request again. */
const HEARTBEATS = 57;

/**
 * One JSON object for a whole run. While the run is active the connection is kept alive by white space, which JSON permits
 * before a value. If the run takes too long, the object describes it as it is then.
 */
export abstract class PlainAnswer implements Encoder {
  readonly headers: Readonly<Record<string, string>> = HEADERS;
  readonly heartbeat: string | null = '\n';
  readonly lastHeartbeat = { count: HEARTBEATS, data: () => this.unfinished() };

  /** Reads an event. Returns false if this framing cannot show what has happened: then the connection must break. */
  protected abstract note(event: RunEvent): boolean;
  /** The object of the ended run, as JSON. */
  protected abstract finished(): string;
  /** The object of the run as far as it is known, as JSON. */
  protected abstract unfinished(): string;

  page(events: readonly RunEvent[], from: number, _cursor: number): EncodedPage {
    let data = '';
    let next = from;
    let last = 0;
    let breaksOff = false;
    for (; next < events.length && !breaksOff; next += 1) {
      const event = events[next] as RunEvent;
      breaksOff = !this.note(event);
      if (event.type === 'end') data = this.finished();
      last = lastFrameId(event);
    }
    return { data, next, cursor: last, breaksOff };
  }
}
