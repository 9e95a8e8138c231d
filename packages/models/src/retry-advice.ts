import type { RetryAdvice } from './provider-failure.ts';

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Reads what the headers of an answer tell about a retry. */
export function retryAdvice(headers: AnswerHeaders): RetryAdvice {
  const should = oneHeader(headers, 'x-should-retry');
  return { afterMs: retryAfterMs(headers), should: should === 'true' ? true : should === 'false' ? false : null };
}

/** Seconds or a date. As in the clients of OpenAI and Anthropic, `retry-after-ms` is checked first. */
function retryAfterMs(headers: AnswerHeaders): number | null {
  const ms = Number.parseFloat(oneHeader(headers, 'retry-after-ms'));
  if (ms >= 0) return ms;
  const text = oneHeader(headers, 'retry-after').trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const until = Date.parse(text);
  return Number.isNaN(until) ? null : Math.max(0, until - Date.now());
}

function oneHeader(headers: AnswerHeaders, name: string): string {
  const value = headers[name];
  return Array.isArray(value) ? (value[0] ?? '') : (value ?? '');
}
