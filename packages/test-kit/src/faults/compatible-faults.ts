import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
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

export const COMPATIBLE_FAULTS = { 'end-quietly': endQuietly };
