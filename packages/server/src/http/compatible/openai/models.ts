import { Refusal } from '../../../domain/refusal.ts';
import { type CompatibleDeps, entryPoints } from '../compatible-deps.ts';
import type { CompatibleCall } from '../compatible-route.ts';

/** An entry point as a model. Definitions have no date; clients require one. */
const modelJson = (id: string, owner: string) => ({ id, object: 'model', created: 0, owned_by: owner });

/** `GET /models`: the entry points of the integration's agency, the default one first. */
export function listModels(deps: CompatibleDeps, { settings }: Pick<CompatibleCall, 'settings'>) {
  const names = entryPoints(deps, settings).toSorted((one) => (one === settings.defaultAgent ? -1 : 0));
  return { object: 'list', data: names.map((name) => modelJson(name, settings.agency)) };
}

/** `GET /models/{id}`: the name of an entry point, or the id of the integration for the default one. */
export function getModel(deps: CompatibleDeps, { request, settings, scope }: CompatibleCall) {
  const { model } = request.params as { readonly model: string };
  if (model !== scope.integrationId && !entryPoints(deps, settings).includes(model)) {
    throw new Refusal('model_not_found');
  }
  return modelJson(model, settings.agency);
}
