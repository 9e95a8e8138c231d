import { isObject } from './provider-failure.ts';
import type { Usage } from './usage.ts';

/** No call reaches this number. A larger one is an error of the provider and must not be charged. */
const MAX_TOKENS = 1_000_000_000;

/** The names of the counters in a protocol. */
export interface UsageNames {
  readonly input: string;
  readonly output: string;
  readonly inputDetails: string;
  readonly outputDetails: string;
}

/** Reads the reported usage. Returns null if it is impossible; then the tokens are estimated from the text. */
export function reportedUsage(value: unknown, names: UsageNames): Usage | null {
  if (!isObject(value)) return null;
  const inputTokens = tokens(value[names.input]);
  const outputTokens = tokens(value[names.output]);
  if (inputTokens === null || outputTokens === null) return null;
  const detail = (group: unknown, name: string, most: number) =>
    Math.min(most, (isObject(group) ? tokens(group[name]) : null) ?? 0);
  return {
    requestCount: 1,
    inputTokens,
    cachedTokens: detail(value[names.inputDetails], 'cached_tokens', inputTokens),
    outputTokens,
    reasoningTokens: detail(value[names.outputDetails], 'reasoning_tokens', outputTokens),
  };
}

export function tokens(value: unknown): number | null {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TOKENS
    ? (value as number)
    : null;
}
