import type { RunEvent } from '../../domain/run/events.ts';
import { EventEncoder } from './event-encoder.ts';
import { STREAM_HEADERS } from '../encoders/encoder.ts';

export type EndOfRun = Extract<RunEvent, { readonly type: 'messages' }>;

/**
 * One JSON value after the run's end. White space before it keeps the connection open: JSON allows it, and every client of
 * these APIs reads it.
 */
export abstract class PlainAnswer extends EventEncoder {
  override readonly headers: Readonly<Record<string, string>> = {
    ...STREAM_HEADERS,
    'content-type': 'application/json; charset=utf-8',
  };
  override readonly heartbeat: string | null = ' ';

  /** Returns the JSON text of the answer. */
  protected abstract finish(event: EndOfRun): string;

  protected encode(event: RunEvent): string | null {
    return event.type === 'messages' ? this.finish(event) : '';
  }
}
