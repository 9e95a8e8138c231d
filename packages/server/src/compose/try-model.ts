import type { Model, ModelOutput } from '../agent/ports.ts';

const QUESTION = 'Answer with the one word: ready.';

/** Takes any output and keeps none. */
const ignored: ModelOutput = {
  isFull: false,
  onceRoom() {},
  begun() {},
  text() {},
  reasoning() {},
  toolCall() {},
  argumentsPiece() {},
  replay() {},
  inputUsage() {},
  usage() {},
};

/** Asks the model one short question. Rejects with a `RunFailure` if it gives no whole answer. */
export async function tryModel(model: Model, signal: AbortSignal): Promise<void> {
  const request = { runId: 'doctor', step: 1, attempt: 1, instructions: '', tools: [] };
  await model.call({ ...request, prompt: [{ kind: 'user', text: QUESTION }] }, ignored, signal);
}

/** True if the model gives a whole answer to the question. */
export function isAnswering(model: Model, signal: AbortSignal): Promise<boolean> {
  return tryModel(model, signal).then(
    () => true,
    () => false,
  );
}
