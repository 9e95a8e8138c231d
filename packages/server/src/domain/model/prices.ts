import type { Cost } from './cost.ts';
import type { ModelUsage, Usage } from './usage.ts';

/** In millionths of a credit or the currency's unit, per million tokens. Whole numbers, so that sums are exact. */
export interface ModelPrice {
  readonly input: number;
  readonly cachedInput: number;
  readonly output: number;
}

export interface Prices {
  /** The prices' currency, such as `EUR`. Null: they are in credits, and runs have no cost. */
  readonly currency: string | null;
  /** By `provider/model`. */
  readonly models: ReadonlyMap<string, ModelPrice>;
}

export const NO_PRICES: Prices = { currency: null, models: new Map() };

/** The largest number of digits after the decimal point. */
export const PRICE_DIGITS = 6;

const MILLION = 1_000_000n;
const SCALE = 10n ** BigInt(PRICE_DIGITS) * MILLION;

type PricedTokens = Pick<Usage, 'inputTokens' | 'cachedTokens' | 'outputTokens'>;

/**
 * Returns whole credits, rounded up once per run and model. Cached tokens are part of the input tokens and have their
 * own price.
 */
export function getCredits(price: ModelPrice, tokens: PricedTokens): number {
  return Number((multiply(price, tokens) + SCALE - 1n) / SCALE);
}

/** Returns tokens × price in the currency's millionths, rounded to the nearest one. */
function getMillionths(price: ModelPrice, tokens: PricedTokens): number {
  return Number((multiply(price, tokens) + MILLION / 2n) / MILLION);
}

/** Returns what one model's tokens cost; null without a currency, and if the model has no price. */
export function priceTokens({ currency, models }: Prices, model: string, tokens: PricedTokens): Cost | null {
  const price = models.get(model);
  return currency === null || price === undefined ? null : { currency, millionths: getMillionths(price, tokens) };
}

/** In units of 1 / `SCALE`. */
function multiply(price: ModelPrice, tokens: PricedTokens): bigint {
  const input = whole(tokens.inputTokens);
  const cached = whole(Math.min(tokens.cachedTokens, tokens.inputTokens));
  return (
    (input - cached) * BigInt(price.input) +
    cached * BigInt(price.cachedInput) +
    whole(tokens.outputTokens) * BigInt(price.output)
  );
}

/** Accepts any number that a provider may report, so that a run's end can always be stored. */
function whole(tokens: number): bigint {
  return Number.isFinite(tokens) && tokens > 0 ? BigInt(Math.ceil(tokens)) : 0n;
}

/**
 * A model without a price costs no credits. An integration that counts in credits requires prices for all its models.
 */
export function withPrices(byModel: readonly ModelUsage[], prices: Prices): ModelUsage[] {
  return byModel.map((used) => {
    const price = prices.models.get(used.model);
    const credits = price === undefined ? 0 : getCredits(price, used);
    const cost = priceTokens(prices, used.model, used);
    return { ...used, credits, ...(cost !== null && { cost: cost.millionths }) };
  });
}
