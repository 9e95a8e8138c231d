import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import { UiAnswer } from '@runwire/server/src/http/compatible/ai-sdk/ui-answer.ts';
import { ChunkEncoder } from '@runwire/server/src/http/compatible/openai/chat-completions/chunk-encoder.ts';

/** Streams of Chat Completions end like complete answers, whatever happened. */
function endQuietly(): Overrides {
  const { page } = ChunkEncoder.prototype;
  ChunkEncoder.prototype.page = function (this: ChunkEncoder, ...given) {
    const made = page.apply(this, given);
    return { ...made, data: String(made.data).replace(/data: \{"error":.*\n\n/g, '') };
  };
  return {};
}

/** The UI message stream does not remove what became void. */
function ignoreReset(): Overrides {
  const { read } = UiAnswer.prototype;
  UiAnswer.prototype.read = function (this: UiAnswer, event) {
    if (event.type !== 'resumed') read.call(this, event);
  };
  return {};
}

export const COMPATIBLE_FAULTS = { 'end-quietly': endQuietly, 'ignore-reset': ignoreReset };
