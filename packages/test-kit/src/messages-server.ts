import { IssuedThinking, type MessagesRequest, messagesRefusal } from '@runwire/models/src/testing/messages-rules.ts';
import { sseText } from '@runwire/models/src/testing/provider-streams.ts';
import { FakeProvider, type ProviderCall } from './fake-provider.ts';

type Json = Readonly<Record<string, unknown>>;

/** A block of an answer. Thinking gets its signature from the server. */
export type ScriptedBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string }
  | { readonly type: 'redacted_thinking' }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: Json };

/** What the server does with a request that breaks no rule: it answers, or it fails with a status. */
export type ScriptedAnswer = readonly ScriptedBlock[] | { readonly status: number; readonly body: unknown };
type Script = (request: MessagesRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;

export interface Refusal {
  readonly rule: string;
  readonly message: string;
  readonly request: MessagesRequest;
}

/** A server of the Messages API over real HTTP that enforces the API's rules and signs thinking. */
export class MessagesServer implements AsyncDisposable {
  readonly #provider: FakeProvider;
  readonly #issued = new IssuedThinking();
  readonly requests: MessagesRequest[] = [];
  readonly refusals: Refusal[] = [];

  private constructor(provider: FakeProvider, answer: Script) {
    this.#provider = provider;
    provider.onCall = (call) => void this.#answer(call, answer);
  }

  static async start(answer: Script): Promise<MessagesServer> {
    return new MessagesServer(await FakeProvider.start(), answer);
  }

  get baseUrl(): string {
    return this.#provider.baseUrl;
  }

  async #answer(call: ProviderCall, answer: Script): Promise<void> {
    const request = call.body as MessagesRequest;
    this.requests.push(request);
    const refused = messagesRefusal(request, this.#issued);
    if (refused !== null) {
      this.refusals.push({ rule: refused.id, message: refused.body.error.message, request });
      call.answer(400, refused.body);
      return;
    }
    const made = await answer(request);
    // Without a wait before a retry.
    if ('status' in made) call.answer(made.status, made.body, { 'retry-after': '0' });
    else await call.stream(sseText(this.#events(request, made)));
  }

  #events(request: MessagesRequest, blocks: readonly ScriptedBlock[]): Json[] {
    const usage = { input_tokens: 20, cache_read_input_tokens: 8, output_tokens: 1 };
    const events: Json[] = [{ type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [], usage } }];
    const content: Json[] = [];
    for (const [index, block] of blocks.entries()) {
      const { start, deltas, whole } = this.#block(request, content, block);
      content.push(whole);
      events.push({ type: 'content_block_start', index, content_block: start });
      for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta });
      events.push({ type: 'content_block_stop', index });
    }
    const reason = blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
    events.push({ type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 9 } });
    return [...events, { type: 'message_stop' }];
  }

  #block(request: MessagesRequest, before: readonly Json[], block: ScriptedBlock) {
    switch (block.type) {
      case 'text':
        return { start: { ...block, text: '' }, deltas: [{ type: 'text_delta', text: block.text }], whole: block };
      case 'thinking': {
        const signature = this.#issued.sign(request, before, block.thinking);
        const deltas = [
          { type: 'thinking_delta', thinking: block.thinking },
          { type: 'signature_delta', signature },
        ];
        return { start: { ...block, thinking: '', signature: '' }, deltas, whole: { ...block, signature } };
      }
      case 'redacted_thinking': {
        const whole = { ...block, data: this.#issued.redact(request, before) };
        return { start: whole, deltas: [], whole };
      }
      case 'tool_use': {
        const deltas = [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }];
        return { start: { ...block, input: {} }, deltas, whole: block };
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#provider[Symbol.asyncDispose]();
  }
}
