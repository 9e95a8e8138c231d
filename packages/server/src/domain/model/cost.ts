import type { ModelUsage } from './usage.ts';

/** Money. Whole millionths, so that sums are exact. */
export interface Cost {
  /** Three capital letters, as in ISO 4217. */
  readonly currency: string;
  readonly millionths: number;
}

const MILLION = 1_000_000;

/** Adds up what models cost. Returns null without a currency, and if a model had no price. */
export function sumCosts(byModel: readonly ModelUsage[], currency: string | null): Cost | null {
  if (currency === null) return null;
  let millionths = 0;
  for (const { cost } of byModel) {
    if (cost === undefined) return null;
    millionths += cost;
  }
  return { currency, millionths };
}

/** A cost as answers have it. */
export const costJson = (cost: Cost | null) =>
  cost === null ? null : { amount: cost.millionths / MILLION, currency: cost.currency };
