import { type Prices, priceTokens } from '../domain/model/prices.ts';
import type { Step } from '../domain/run/step.ts';

/** Adds the cost to a finished step. It keeps this cost if the prices change. */
export function priceStep(prices: Prices, step: Step): Step {
  const { model, usage } = step;
  const cost = model === null || usage === null ? null : priceTokens(prices, model, usage);
  return cost === null ? step : { ...step, cost };
}
