import type { ModelRequest, Overrides } from '@runwire/test-kit';
import { changeModelCalls } from '@runwire/test-kit/change-model-calls.ts';

type Replay = NonNullable<ModelRequest['replays']>[number]['replay'];

function changeReplays(change: (replay: Replay, id: string) => Replay): Overrides {
  changeModelCalls((id, call) => (request, output, signal) => {
    const replays = (request.replays ?? []).map((one) => ({ ...one, replay: change(one.replay, id) }));
    return call({ ...request, replays }, output, signal);
  });
  return {};
}

/** Faults between the loop and the adapters of providers. */
export const MODEL_FAULTS: Readonly<Record<string, () => Overrides>> = {
  // What a provider wants back is sent in another order.
  'reorder-blocks': () =>
    changeReplays((replay) => ({ ...replay, body: (replay.body as readonly unknown[]).toReversed() })),
  // What a provider wants back is sent to whichever model is asked.
  'blocks-of-another-model': () => changeReplays((replay, model) => ({ ...replay, model })),
};
