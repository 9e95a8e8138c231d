import type { ModelUsage, Usage } from './usage.ts';

/** In millionths of a credit per million tokens. Whole numbers, so that sums are exact. */
export interface ModelPrice {
  readonly input: number;
  readonly cachedInput: number;
  readonly output: number;
}

/** By `provider/model`. */
export type Prices = ReadonlyMap<string, ModelPrice>;

export const NO_PRICES: Prices = new Map();

/** The largest number of digits after the decimal point. */
export const PRICE_DIGITS = 6;

const SCALE = 10n ** BigInt(PRICE_DIGITS) * 1_000_000n;

type PricedTokens = Pick<Usage, 'inputTokens' | 'cachedTokens' | 'outputTokens'>;

/**
 * Returns whole credits, rounded up once per run and model. Cached tokens are part of the input tokens and have their
 * own price.
 */
export function getCredits(price: ModelPrice, tokens: PricedTokens): number {
  const input = whole(tokens.inputTokens);
  const cached = whole(Math.min(tokens.cachedTokens, tokens.inputTokens));
  const cost =
    (input - cached) * BigInt(price.input) +
    cached * BigInt(price.cachedInput) +
    whole(tokens.outputTokens) * BigInt(price.output);
  return Number((cost + SCALE - 1n) / SCALE);
}

/** Accepts any number that a provider may report, so that a run's end can always be stored. */
function whole(tokens: number): bigint {
  return Number.isFinite(tokens) && tokens > 0 ? BigInt(Math.ceil(tokens)) : 0n;
}

/**
 * A model without a price costs no credits. An integration that counts in credits requires prices for all its models.
 */
export function withCredits(byModel: readonly ModelUsage[], prices: Prices): ModelUsage[] {
  return byModel.map((used) => {
    const price = prices.get(used.model);
    return { ...used, credits: price === undefined ? 0 : getCredits(price, used) };
  });
}
