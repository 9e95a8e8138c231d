import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import { AgUiEncoder } from '@runwire/server/src/http/compatible/ag-ui/ag-ui-encoder.ts';
import { UiAnswer } from '@runwire/server/src/http/compatible/ai-sdk/ui-answer.ts';
import { AskCall } from '@runwire/server/src/http/compatible/mcp/ask-call.ts';
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

/** Messages of AG-UI have no end. */
function leaveOpen(): Overrides {
  const { page } = AgUiEncoder.prototype;
  AgUiEncoder.prototype.page = function (this: AgUiEncoder, ...given) {
    const made = page.apply(this, given);
    return { ...made, data: String(made.data).replace(/^data: \{"type":"TEXT_MESSAGE_END".*\n\n/gm, '') };
  };
  return {};
}

/** A run continues after the request of its MCP client was cancelled. */
function keepRunning(): Overrides {
  AskCall.prototype.leave = async () => {};
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

export const COMPATIBLE_FAULTS = {
  'ignore-reset': ignoreReset,
  'end-quietly': endQuietly,
  'leave-open': leaveOpen,
  'keep-running-after-cancel': keepRunning,
};
