export interface Usage {
  readonly requestCount: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

/** A run's usage of one model. `credits` is what it was charged for it: set at the end, at the prices of that day. */
export interface ModelUsage extends Usage {
  readonly model: string;
  readonly credits: number;
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
  const known = all.find((one) => one.model === model);
  const others = all.filter((one) => one !== known);
  return [...others, { model, ...addUsage(known ?? NO_USAGE, usage), credits: 0 }];
}

/** A token is taken for four bytes of UTF-8 wherever nothing better is known. */
export const BYTES_A_TOKEN = 4;

export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_A_TOKEN);
}

/**
 * What an image is taken for wherever its provider has not said: a picture of 1024 × 1024 pixels is 765 to 1105 tokens
 * to OpenAI's models, and its size in bytes says nothing of it.
 */
export const IMAGE_TOKENS = 1000;

/** The text that takes as many tokens as an image. */
export const IMAGE_TEXT_BYTES = BYTES_A_TOKEN * IMAGE_TOKENS;

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
