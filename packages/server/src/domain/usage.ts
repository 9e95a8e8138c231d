export interface Usage {
  readonly requestCount: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

/** The usage of one model in a run. `credits` is the charge, set at the end at the current prices. */
export interface ModelUsage extends Usage {
  readonly model: string;
  readonly credits: number;
}

export interface UsageTotals {
  readonly usage: Usage;
  readonly byModel: readonly ModelUsage[];
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

/** A token counts as four bytes of UTF-8 if no better number is known. */
export const BYTES_A_TOKEN = 4;

export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_A_TOKEN);
}

/**
 * The tokens of an image if its provider reports none: 1024 × 1024 pixels are 765 to 1105 tokens for OpenAI's models,
 * and the size in bytes tells nothing about it.
 */
export const IMAGE_TOKENS = 1000;

/** The size of a text that has as many tokens as an image. */
export const IMAGE_TEXT_BYTES = BYTES_A_TOKEN * IMAGE_TOKENS;

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
