import type { ModelRequest, Overrides } from '@runwire/test-kit';
import { ProviderModels } from '../../packages/server/src/agent/models/provider-models.ts';

type MakeModel = ProviderModels['model'];
type Call = NonNullable<ReturnType<MakeModel>>['call'];
type Replay = NonNullable<ModelRequest['replays']>[number]['replay'];

/** Every model of a provider is called by this function instead. */
function changeCalls(change: (id: string, call: Call) => Call): Overrides {
  const own: MakeModel = ProviderModels.prototype.model;
  ProviderModels.prototype.model = function model(this: ProviderModels, id) {
    const made = own.call(this, id);
    return made === null ? null : { ...made, call: change(id, made.call) };
  };
  return {};
}

function changeReplays(change: (replay: Replay, id: string) => Replay): Overrides {
  return changeCalls((id, call) => (request, output, signal) => {
    const replays = (request.replays ?? []).map((one) => ({ ...one, replay: change(one.replay, id) }));
    return call({ ...request, replays }, output, signal);
  });
}

/** Faults between the loop and the adapters of providers. */
export const MODEL_FAULTS: Readonly<Record<string, () => Overrides>> = {
  // What a provider wants back is sent in another order.
  'reorder-blocks': () =>
    changeReplays((replay) => ({ ...replay, body: (replay.body as readonly unknown[]).toReversed() })),
  // What a provider wants back is sent to whichever model is asked.
  'blocks-of-another-model': () => changeReplays((replay, model) => ({ ...replay, model })),
};
