import { Listener, type ModelRequest, type ProviderCall, providerEvents, sseText } from '@runwire/test-kit';
import { anthropicByAiSdk } from '@runwire/test-kit/anthropic-by-ai-sdk.ts';
import { MessagesServer } from '@runwire/test-kit/messages-server.ts';
import { setUp } from '@runwire/test-kit/provider-rig.ts';

type Model = Awaited<ReturnType<typeof setUp>>['model'];
// biome-ignore lint/suspicious/noExplicitAny: a request of one of OpenAI's protocols.
type Body = any;

/** The parts of a request that the rules of OpenAI are about, in both protocols. */
type WireItem = readonly ['call' | 'output', id: string] | readonly ['user' | 'assistant', text: string];

function wireItems({ input, messages }: Body): WireItem[] {
  if (input !== undefined) {
    return input.map(({ type, role, call_id: id, content }: Body): WireItem => {
      if (type === 'function_call') return ['call', id];
      return type === 'function_call_output' ? ['output', id] : [role, content];
    });
  }
  return messages.flatMap(({ role, content, tool_calls: calls = [], tool_call_id: id }: Body): WireItem[] => {
    if (role === 'system') return [];
    if (role === 'tool') return [['output', id]];
    const said: WireItem[] = content === null ? [] : [[role, content]];
    return [...said, ...calls.map((call: Body): WireItem => ['call', call.id])];
  });
}

/** Returns why OpenAI would answer 400 to this request, or null. */
function refusedByOpenAi(body: Body): string | null {
  const open = new Set<string>();
  const known = new Set<string>();
  const unanswered = () => (open.size === 0 ? null : `No tool output found for function call ${[...open].join(', ')}.`);
  const items = wireItems(body);
  for (const [kind, value] of items) {
    if (kind === 'call') {
      if (value === '' || known.has(value)) return `Duplicate call id ${JSON.stringify(value)}.`;
      known.add(value);
      open.add(value);
    } else if (kind === 'output') {
      if (!open.delete(value)) return `No tool call found for function call output ${value}.`;
    } else if (open.size > 0) return unanswered();
    else if (kind === 'assistant' && value.trim() === '') return 'An assistant message is empty.';
  }
  const last = items.at(-1)?.[0];
  const isAsking = last === 'user' || last === 'output';
  return unanswered() ?? (isAsking ? null : 'The last message is not of user or tool.');
}

const FINE = { parts: [{ kind: 'text' as const, deltas: ['Fine.'] }] };

/** Sends prompts through each of our adapters to a server that refuses what its provider refuses. */
export class ProviderJudges implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack();
  readonly #models: (readonly [name: string, model: Model])[] = [];

  static async open(): Promise<ProviderJudges> {
    const judges = new ProviderJudges();
    for (const protocol of ['responses', 'chat'] as const) {
      const { model, provider } = judges.#stack.use(await setUp(protocol));
      provider.onCall = (call: ProviderCall) => {
        const refusal = refusedByOpenAi(call.body);
        if (refusal === null) void call.stream(sseText(providerEvents(protocol, FINE)));
        else call.answer(400, { error: { message: refusal } });
      };
      judges.#models.push([protocol, model]);
    }
    const messages = judges.#stack.use(await MessagesServer.start(() => [{ type: 'text', text: 'Fine.' }]));
    const own = judges.#stack.use(await setUp('messages', { baseUrl: messages.baseUrl, model: 'claude-sonnet-5' }));
    judges.#models.push(['messages', own.model], ['AI SDK', anthropicByAiSdk(messages.baseUrl, 'claude-sonnet-5')]);
    return judges;
  }

  /** Returns what each provider that refuses the prompt answers, by adapter. */
  async refusals(request: ModelRequest): Promise<Record<string, string>> {
    const refused: Record<string, string> = {};
    for (const [name, model] of this.#models) {
      await model.call(request, new Listener(), new AbortController().signal).catch((error: Error) => {
        refused[name] = error.message;
      });
    }
    return refused;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
