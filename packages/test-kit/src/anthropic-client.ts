import Anthropic from '@anthropic-ai/sdk';
import { type ReadMessage, show } from './read-message.ts';

const COMPLETE: readonly (string | null)[] = ['end_turn', 'tool_use', 'stop_sequence'];

/** The official client: its decoder reads the bytes, its accumulator builds the message. */
export async function readByAnthropicClient(client: Anthropic): Promise<ReadMessage> {
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  const stream = client.messages.stream({ model: 'm', max_tokens: 100, messages });
  const read: ReadMessage = { shown: [], thinking: [], usage: null, stop: 'error' };
  let hasUsage = false;
  let message: Anthropic.Message | undefined;
  stream.on('streamEvent', (event, snapshot) => {
    if (event.type === 'message_delta') hasUsage = true;
    message = snapshot;
  });
  try {
    const { stop_reason: reason } = await stream.finalMessage();
    read.stop = COMPLETE.includes(reason) ? 'complete' : (reason ?? 'error');
  } catch (error) {
    if (!(error instanceof Anthropic.AnthropicError)) throw error;
  }
  for (const block of message?.content ?? []) {
    if (block.type === 'text') show(read.shown, 'text', block.text);
    if (block.type === 'thinking') {
      show(read.shown, 'thinking', block.thinking, '\n\n');
      read.thinking.push([block.thinking, block.signature]);
    }
    if (block.type === 'redacted_thinking') read.thinking.push([block.data]);
    if (block.type === 'tool_use') read.shown.push(['call', block.id, block.name, JSON.stringify(block.input)]);
  }
  if (message !== undefined && hasUsage) {
    const { usage } = message;
    const cached = usage.cache_read_input_tokens ?? 0;
    const input = usage.input_tokens + (usage.cache_creation_input_tokens ?? 0) + cached;
    read.usage = [input, cached, usage.output_tokens, usage.output_tokens_details?.thinking_tokens ?? 0];
  }
  return read;
}
