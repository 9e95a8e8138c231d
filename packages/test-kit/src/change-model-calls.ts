import { ProviderModels } from '@runwire/models/provider-models';
import type { Model } from '@runwire/server/src/agent/ports.ts';

/** Changes how this process calls every model of a provider, so that a proof can plant a fault. */
export function changeModelCalls(change: (id: string, call: Model['call']) => Model['call']): void {
  const own: ProviderModels['model'] = ProviderModels.prototype.model;
  ProviderModels.prototype.model = function model(this: ProviderModels, id) {
    const made = own.call(this, id);
    return made === null ? null : { ...made, call: change(id, made.call) };
  };
}
