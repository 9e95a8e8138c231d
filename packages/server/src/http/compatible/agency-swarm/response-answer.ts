import { usageJson } from '../../../domain/model/usage.ts';
import type { RunEvent } from '../../../domain/run/events.ts';
import { STREAM_HEADERS } from '../../encoders/encoder.ts';
import { newMessageJson } from '../../encoders/responses-json.ts';
import type { EndOfRun } from '../end-of-run.ts';
import { EventEncoder } from '../event-encoder.ts';

export const newMessagesJson = ({ items }: EndOfRun): string => `[${items.map(newMessageJson).join(',')}]`;

/** The answer's text or structured value. */
function answerValue({ items, output }: EndOfRun): unknown {
  if (output !== undefined && output !== null) return output;
  return items.map((item) => (item.kind === 'message' && item.callerAgent === null ? item.text : '')).join('');
}

/**
 * The answer of `get_response`: one JSON object after the run's end. White space before it keeps the connection open;
 * JSON permits it. Clients of agency-swarm wait as long as a run takes.
 */
export class ResponseAnswer extends EventEncoder {
  override readonly headers = { ...STREAM_HEADERS, 'content-type': 'application/json; charset=utf-8' };
  override readonly heartbeat = '\n';

  protected encode(event: RunEvent): string {
    return event.type === 'messages' ? responseJson(event) : '';
  }
}

function responseJson(event: EndOfRun): string {
  const { runId, chatId, status, error, usage } = event;
  const response = status === 'failed' ? {} : { response: answerValue(event) };
  const failed = error === null ? {} : { error: error.message, code: error.code };
  const cancelled = status === 'cancelled' ? { cancelled: true } : {};
  const head = JSON.stringify({ ...response, ...failed, ...cancelled, run_id: runId, chatId, status });
  const tail = JSON.stringify({ usage: usageJson(usage) }).slice(1);
  return `${head.slice(0, -1)},"new_messages":${newMessagesJson(event)},${tail}`;
}
