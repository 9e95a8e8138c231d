import type { ModelUsage, Usage } from './usage.ts';

/** In millionths of a credit per million tokens: whole numbers, so that money is added up exactly. */
export interface ModelPrice {
  readonly input: number;
  readonly cachedInput: number;
  readonly output: number;
}

/** By `provider/model`. */
export type Prices = ReadonlyMap<string, ModelPrice>;

export const NO_PRICES: Prices = new Map();

/** A price has at most so many digits after its point. */
export const PRICE_DIGITS = 6;

const SCALE = 10n ** BigInt(PRICE_DIGITS) * 1_000_000n;

type PricedTokens = Pick<Usage, 'inputTokens' | 'cachedTokens' | 'outputTokens'>;

/** Whole credits, rounded up once per run and model. Cached tokens are among the input tokens, at a price of their own. */
export function creditsOf(price: ModelPrice, tokens: PricedTokens): number {
  const input = whole(tokens.inputTokens);
  const cached = whole(Math.min(tokens.cachedTokens, tokens.inputTokens));
  const cost =
    (input - cached) * BigInt(price.input) +
    cached * BigInt(price.cachedInput) +
    whole(tokens.outputTokens) * BigInt(price.output);
  return Number((cost + SCALE - 1n) / SCALE);
}

/** Whatever a provider reports, the end of a run can be written. */
function whole(tokens: number): bigint {
  return Number.isFinite(tokens) && tokens > 0 ? BigInt(Math.ceil(tokens)) : 0n;
}

/** A model without a price costs no credits: a price is asked for where an integration begins to count in them. */
export function withCredits(byModel: readonly ModelUsage[], prices: Prices): ModelUsage[] {
  return byModel.map((used) => {
    const price = prices.get(used.model);
    return { ...used, credits: price === undefined ? 0 : creditsOf(price, used) };
  });
}
