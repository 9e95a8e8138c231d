import { lastFrameId, type RunEvent } from '../../domain/events.ts';
import { type EncodedPage, type Encoder, STREAM_HEADERS } from './encoder.ts';

const HEADERS = { ...STREAM_HEADERS, 'content-type': 'text/plain; charset=utf-8' };

function isHighSurrogate(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

/**
 * The answer's text as it comes, and nothing else. Text has no frame that could say how the run ended, so "it ends
 * normally only if the run completed; failed, cancelled or void text already sent ends it abnormally". One per reader:
 * it remembers what this one was given.
 */
export class TextOnly implements Encoder {
  readonly headers = HEADERS;
  readonly heartbeat = null;
  #lastTextId = 0;
  /** Half of a character, until its other half comes: alone it has no UTF-8. */
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
