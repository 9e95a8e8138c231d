import { addUsage, NO_USAGE, type Usage } from '@runwire/models';

export { addUsage, BYTES_A_TOKEN, estimateTokens, IMAGE_TEXT_BYTES, NO_USAGE, type Usage } from '@runwire/models';

/** One model's usage in a run. `credits` and `cost` are set at the end at the current prices. */
export interface ModelUsage extends Usage {
  readonly model: string;
  readonly credits: number;
  /** In the currency's millionths. Absent if there was no currency, or no price for this model. */
  readonly cost?: number;
}

interface UsageRow {
  readonly request_count: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
}

export const usageFromRow = (row: UsageRow): Usage => ({
  requestCount: row.request_count,
  inputTokens: row.input_tokens,
  cachedTokens: row.cached_tokens,
  outputTokens: row.output_tokens,
  reasoningTokens: row.reasoning_tokens,
});

export interface UsageTotals {
  readonly usage: Usage;
  readonly byModel: readonly ModelUsage[];
}

export function totalTokens(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens;
}

export function addModelUsage(all: readonly ModelUsage[], model: string, usage: Usage): ModelUsage[] {
  const known = all.find((one) => one.model === model);
  const others = all.filter((one) => one !== known);
  return [...others, { model, ...addUsage(known ?? NO_USAGE, usage), credits: 0 }];
}

/** `usage` in the form of every answer and frame. */
export function usageJson(usage: Usage) {
  return {
    request_count: usage.requestCount,
    input_tokens: usage.inputTokens,
    cached_tokens: usage.cachedTokens,
    output_tokens: usage.outputTokens,
    reasoning_tokens: usage.reasoningTokens,
    total_tokens: totalTokens(usage),
  };
}
