/** What a call of a model used, as its provider reports it. */
export interface Usage {
  readonly requestCount: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
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

/** A token counts as four bytes of UTF-8 if no better number is known. */
export const BYTES_A_TOKEN = 4;

export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_A_TOKEN);
}

/**
 * An image's tokens if its provider reports none: 1024 × 1024 pixels are 765 to 1105 tokens for OpenAI's models,
 * and the size in bytes tells nothing about it.
 */
export const IMAGE_TOKENS = 1000;

/** The size of a text that has as many tokens as an image. */
export const IMAGE_TEXT_BYTES = BYTES_A_TOKEN * IMAGE_TOKENS;
