export interface Usage {
  readonly requestCount: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

export interface ModelUsage {
  readonly model: string;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
}

export const NO_USAGE: Usage = {
  requestCount: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    requestCount: a.requestCount + b.requestCount,
    inputTokens: a.inputTokens + b.inputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
  };
}

export function totalTokens(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens;
}

export function addModelUsage(all: readonly ModelUsage[], model: string, usage: Usage): ModelUsage[] {
  const sum = {
    model,
    inputTokens: usage.inputTokens,
    cachedTokens: usage.cachedTokens,
    outputTokens: usage.outputTokens,
  };
  const others: ModelUsage[] = [];
  for (const one of all) {
    if (one.model === model) {
      sum.inputTokens += one.inputTokens;
      sum.cachedTokens += one.cachedTokens;
      sum.outputTokens += one.outputTokens;
    } else others.push(one);
  }
  return [...others, sum];
}

/** A token is taken for four bytes of UTF-8 wherever nothing better is known. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / 4);
}

/** `usage` as it stands in every answer and frame. */
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
