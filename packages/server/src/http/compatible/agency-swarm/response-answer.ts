import { usageJson } from '../../../domain/model/usage.ts';
import { newMessageJson } from '../../encoders/responses-json.ts';
import { type EndOfRun, PlainAnswer } from '../plain-answer.ts';

export const newMessagesJson = ({ items }: EndOfRun): string => `[${items.map(newMessageJson).join(',')}]`;

/** The text or the structured value of the run's answer. */
export function answerValue({ items, output }: EndOfRun): unknown {
  if (output !== undefined && output !== null) return output;
  return items.map((item) => (item.kind === 'message' && item.callerAgent === null ? item.text : '')).join('');
}

/** The answer of `get_response`. */
export class ResponseAnswer extends PlainAnswer {
  protected finish(event: EndOfRun): string {
    const { runId, chatId, status, error, usage } = event;
    const response = status === 'failed' ? {} : { response: answerValue(event) };
    const failed = error === null ? {} : { error: error.message, code: error.code };
    const cancelled = status === 'cancelled' ? { cancelled: true } : {};
    const head = JSON.stringify({ ...response, ...failed, ...cancelled, run_id: runId, chatId, status });
    const tail = JSON.stringify({ usage: usageJson(usage) }).slice(1);
    return `${head.slice(0, -1)},"new_messages":${newMessagesJson(event)},${tail}`;
  }
}
