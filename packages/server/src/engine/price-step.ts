import type { Cost } from '../domain/model/cost.ts';
import { type Prices, priceTokens } from '../domain/model/prices.ts';
import type { Usage } from '../domain/model/usage.ts';

interface UnpricedStep {
  readonly model: string | null;
  readonly usage: Usage | null;
}

/** Adds the cost to a step. It keeps this cost if the prices change. */
export function priceStep<S extends UnpricedStep>(prices: Prices, step: S): S & { readonly cost?: Cost } {
  const { model, usage } = step;
  const cost = model === null || usage === null ? null : priceTokens(prices, model, usage);
  return cost === null ? step : { ...step, cost };
}
