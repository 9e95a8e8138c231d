import { isWholeReplay, messagesBody, messagesToolsText } from './messages-body.ts';
import { MessagesReader } from './messages-reader.ts';
import type { ModelRequest, ModelResult } from './model.ts';
import type { ProtocolCall } from './protocol-call.ts';
import { type JsonObject, truncatedAnswer } from './provider-failure.ts';
import { fittingReplays, newReplay } from './replays.ts';

/** How often a turn that the provider paused is continued. */
const MAX_CONTINUATIONS = 20;

/** Asks for one answer. A turn that the provider pauses, because its own tools take long, is continued. */
export async function callMessages(call: ProtocolCall, request: ModelRequest): Promise<ModelResult> {
  const { model, output } = call;
  const { traits, prefixes } = model;
  const prefix = {
    model: model.id,
    // Thinking may not be sent back if it was switched off since.
    head: [model.address, request.instructions, messagesToolsText(request), JSON.stringify(request.reasoning ?? null)],
    prompt: request.prompt,
  };
  const replays = fittingReplays(prefix, request.replays ?? [], (one) => isWholeReplay(request, one));
  const content: JsonObject[] = [];
  const options = { replays, paused: content, traits, prefixes };
  let isWhole = true;
  for (let continued = 0; ; continued += 1) {
    const reader = await call.ask(messagesBody(model.target.model, request, options), MessagesReader);
    isWhole &&= reader.content !== null;
    content.push(...(reader.content ?? []));
    if (!reader.isPaused) {
      // Texts and calls alone can be sent from the prompt's items.
      const isOwn = content.some(({ type }) => type !== 'text' && type !== 'tool_use');
      const replay = isWhole && isOwn ? newReplay(prefix, content) : null;
      if (replay !== null) output.replay(replay);
      const { usage, responseId, finishReason } = reader;
      return { usage, responseId, finishReason };
    }
    if (!isWhole || continued === MAX_CONTINUATIONS) throw truncatedAnswer('pause_turn').failure;
  }
}
