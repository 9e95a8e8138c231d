import type { Protocol } from '@runwire/models/src/testing/provider-streams.ts';
import OpenAI from 'openai';

/** What a client has read of a stream. */
export interface ReadAnswer {
  text: string;
  reasoning: string;
  calls: (readonly string[])[];
  /** Input, cached, output and reasoning tokens. */
  usage: readonly number[] | null;
  /** An error, or an answer that the provider reports as incomplete. */
  failed: boolean;
}

/** The official client: its decoder reads the bytes, its accumulator builds the answer. */
export async function readByOfficialClient(client: OpenAI, protocol: Protocol): Promise<ReadAnswer> {
  const read: ReadAnswer = { text: '', reasoning: '', calls: [], usage: null, failed: false };
  try {
    await (protocol === 'responses' ? readResponses : readChat)(client, read);
  } catch (error) {
    if (!(error instanceof OpenAI.OpenAIError)) throw error;
    read.failed = true;
  }
  return read;
}

async function readResponses(client: OpenAI, read: ReadAnswer): Promise<void> {
  for await (const event of client.responses.stream({ model: 'm', input: 'Hi' })) {
    if (event.type === 'response.output_text.delta' || event.type === 'response.refusal.delta')
      read.text += event.delta;
    if (event.type === 'response.reasoning_summary_text.delta') read.reasoning += event.delta;
    if (event.type === 'error' || event.type === 'response.failed') throw new OpenAI.OpenAIError('failed');
    if (event.type !== 'response.completed' && event.type !== 'response.incomplete') continue;
    const { usage, status, output } = event.response;
    read.failed = status !== 'completed';
    for (const item of output) {
      if (item.type === 'function_call') read.calls.push([item.call_id, item.name, item.arguments]);
    }
    const { input_tokens_details: input, output_tokens_details: made } = usage ?? {};
    if (usage) {
      read.usage = [usage.input_tokens, input?.cached_tokens ?? 0, usage.output_tokens, made?.reasoning_tokens ?? 0];
    }
  }
}

async function readChat(client: OpenAI, read: ReadAnswer): Promise<void> {
  const stream = client.chat.completions.stream({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
  for await (const { choices, usage } of stream) {
    const delta = choices[0]?.delta as { content?: string; refusal?: string; reasoning_content?: string };
    read.text += (delta?.content ?? '') + (delta?.refusal ?? '');
    read.reasoning += delta?.reasoning_content ?? '';
    // Not from the accumulator, for which an incomplete answer is an error.
    if (usage) {
      const { prompt_tokens: input, completion_tokens: output } = usage;
      const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
      read.usage = [input, cached, output, usage.completion_tokens_details?.reasoning_tokens ?? 0];
    }
    if (['length', 'content_filter'].includes(choices[0]?.finish_reason ?? '')) read.failed = true;
  }
  const { choices } = await stream.finalChatCompletion();
  for (const call of choices[0]?.message.tool_calls ?? []) {
    if (call.type === 'function') read.calls.push([call.id, call.function.name, call.function.arguments]);
  }
}
