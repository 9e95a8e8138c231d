import { lastFrameId, type RunEvent } from '../../domain/run/events.ts';
import { type EncodedPage, type Encoder, STREAM_HEADERS } from './encoder.ts';

const HEADERS = { ...STREAM_HEADERS, 'content-type': 'text/plain; charset=utf-8' };

function isHighSurrogate(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

/**
 * Sends the text of the answer and nothing else (`contract-5-text-only-end`). Text has no frame for the end of the run. So
 * the answer ends normally only if the run completed. If the run failed or was cancelled, or if sent text became void,
 * it ends abnormally. There is one encoder per reader, because it remembers what the reader got.
 */
export class TextOnly implements Encoder {
  readonly headers = HEADERS;
  readonly heartbeat = null;
  #lastTextId = 0;
  /** The first half of a surrogate pair, until the second half arrives. Alone it cannot be encoded in UTF-8. */
  #half = '';

  page(events: readonly RunEvent[], from: number, cursor: number, maxChars: number): EncodedPage {
    let data = this.#half;
    let breaksOff = false;
    let last = cursor;
    let next = from;
    for (; next < events.length && !breaksOff; next += 1) {
      const event = events[next] as RunEvent;
      if (event.type === 'delta' && event.item.kind === 'message' && event.item.callerAgent === null) {
        if (data.length > this.#half.length && data.length + event.text.length > maxChars) break;
        data += event.text;
        this.#lastTextId = event.id;
      } else if (event.type === 'resumed') breaksOff = this.#lastTextId > event.discardAfter;
      else if (event.type === 'messages') breaksOff = event.status !== 'completed';
      last = lastFrameId(event);
    }
    this.#half = isHighSurrogate(data) && events[next - 1]?.type !== 'end' ? data.slice(-1) : '';
    return { data: this.#half === '' ? data : data.slice(0, -1), next, cursor: last, breaksOff };
  }
}
