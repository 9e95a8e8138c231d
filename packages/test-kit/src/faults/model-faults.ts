import type { ModelRequest, ModelOutput as Output } from '@runwire/server/src/agent/ports.ts';
import { ResponseAssembly } from '@runwire/server/src/agent/response-assembly.ts';
import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import { changeModelCalls } from '../change-model-calls.ts';

type Replay = NonNullable<ModelRequest['replays']>[number]['replay'];

function changeReplays(change: (replay: Replay, id: string) => Replay): Overrides {
  changeModelCalls((id, call) => (request, output, signal) => {
    const replays = (request.replays ?? []).map((one) => ({ ...one, replay: change(one.replay, id) }));
    return call({ ...request, replays }, output, signal);
  });
  return {};
}

/** The same output, with some methods replaced. */
function outputWith(output: Output, changed: Partial<Output>): Output {
  return {
    get isFull() {
      return output.isFull;
    },
    onceRoom: (callback) => output.onceRoom(callback),
    begun: () => output.begun(),
    text: (text) => output.text(text),
    reasoning: (text) => output.reasoning(text),
    toolCall: (callId, name, argumentsText) => output.toolCall(callId, name, argumentsText),
    argumentsPiece: (text) => output.argumentsPiece(text),
    replay: (replay) => output.replay(replay),
    inputUsage: (input) => output.inputUsage(input),
    usage: (usage) => output.usage(usage),
    ...changed,
  };
}

/** Texts reach the run when the answer is complete, so a failed answer has said nothing. */
function holdBack(): Overrides {
  changeModelCalls((_, call) => async (request, output, signal) => {
    const said: (() => void)[] = [];
    const text = (piece: string) => void said.push(() => output.text(piece));
    const reasoning = (piece: string) => void said.push(() => output.reasoning(piece));
    const result = await call(request, outputWith(output, { text, reasoning }), signal);
    for (const say of said) say();
    return result;
  });
  return {};
}

/** The text of a wrong structured answer is sent to readers as a thought. */
function showTries(): Overrides {
  const own: ResponseAssembly['finish'] = ResponseAssembly.prototype.finish;
  ResponseAssembly.prototype.finish = function finish(this: ResponseAssembly, usage, isRight = true) {
    if (!isRight) {
      const text = this.heldText;
      this.heldText = '';
      this.reasoning(text);
    }
    own.call(this, usage, true);
  };
  return {};
}

/** A text that guardrails have not checked yet is sent, as reasoning. */
function sendBeforeCheck(): Overrides {
  const { text: own } = ResponseAssembly.prototype;
  ResponseAssembly.prototype.text = function text(this: ResponseAssembly, piece) {
    own.call(this, piece);
    if (this.heldText !== '') this.reasoning(piece);
  };
  return {};
}

/** What a model reports before it fails is lost. */
function freeFailures(): Overrides {
  const nothing = { begun() {}, inputUsage() {}, usage() {} };
  changeModelCalls((_, call) => (request, output, signal) => call(request, outputWith(output, nothing), signal));
  return {};
}

/** Faults between the adapters of providers and a run's readers. */
export const MODEL_FAULTS: Readonly<Record<string, () => Overrides>> = {
  'hold-back': holdBack,
  'free-failures': freeFailures,
  'show-tries': showTries,
  'send-before-check': sendBeforeCheck,
  // What a provider wants back is sent in another order: the calls first.
  'reorder-blocks': () =>
    changeReplays((replay) => {
      const blocks = replay.body as readonly { readonly type: string }[];
      const calls = blocks.filter(({ type }) => type === 'tool_use');
      return { ...replay, body: [...calls, ...blocks.filter((block) => !calls.includes(block))] };
    }),
  // What a provider wants back is sent to whichever model is asked.
  'blocks-of-another-model': () => changeReplays((replay, model) => ({ ...replay, model })),
};
