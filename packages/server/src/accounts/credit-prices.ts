import type { Agencies } from '../agencies/agencies.ts';
import type { LoadedAgency } from '../agencies/loaded-agency.ts';
import type { Prices } from '../domain/model/prices.ts';
import { StartRefused } from '../domain/start-refused.ts';
import { creditIntegrations } from '../store/queries/accounts.ts';
import type { Reads } from '../store/store.ts';

/** Returns a model of this integration that has no price, or null. Its use would cost nothing. */
export function unpricedModel(
  agencies: Agencies,
  { agency, model }: { readonly agency: string; readonly model: string | null },
  prices: Prices,
): string | null {
  return agencies.models(agency, model).find((one) => !prices.models.has(one)) ?? null;
}

/**
 * Returns a sentence if an integration counts in credits and a model of this version of its agency has no price, or null. Its
 * use would cost nothing.
 */
export async function creditProblem(
  reads: Reads,
  agencies: Agencies,
  loaded: LoadedAgency,
  prices: Prices,
): Promise<string | null> {
  for (const { integration_id: id, agency, model } of await reads.all(creditIntegrations, {})) {
    if (agency !== loaded.id) continue;
    const unpriced = agencies.getModels(loaded, model).find((one) => !prices.models.has(one));
    if (unpriced === undefined) continue;
    return `The integration \`${id}\` has allowances in credits, but RUNWIRE_PRICES has no price for \`${unpriced}\`; name a model with a price.`;
  }
  return null;
}

/**
 * Refuses the start if an integration counts in credits and a model of its agency has no price. An agency of the folder
 * does not stop the start: `creditProblem` has broken it, and a broken agency has no models.
 */
export async function checkCreditPrices(reads: Reads, agencies: Agencies, prices: Prices): Promise<void> {
  for (const { integration_id: id, ...integration } of await reads.all(creditIntegrations, {})) {
    const model = unpricedModel(agencies, integration, prices);
    if (model === null) continue;
    throw new StartRefused(
      `The integration \`${id}\` has allowances in credits, but RUNWIRE_PRICES has no price for its model \`${model}\`; add one.`,
    );
  }
}
