import Anthropic from '@anthropic-ai/sdk';
import { modelRequest } from '@runwire/models/src/testing/model-conformance.ts';
import { type FakeProvider, Listener, type ModelRequest, type Protocol } from '@runwire/test-kit';
import { anthropicByAiSdk } from '@runwire/test-kit/anthropic-by-ai-sdk.ts';
import { readByAnthropicClient } from '@runwire/test-kit/anthropic-client.ts';
import { readByOfficialClient } from '@runwire/test-kit/official-client.ts';
import { KEY, setUp } from '@runwire/test-kit/provider-rig.ts';
import { comparable, type ReadMessage, readByModel } from '@runwire/test-kit/read-message.ts';
import OpenAI from 'openai';

/** What a client has read of a stream, by field. */
export type Reading = Readonly<Record<string, unknown>>;
type ReadBy = (stream: string, output: Listener) => Promise<Reading>;

/** One protocol's clients, all asking one provider. */
export interface ProtocolReaders extends AsyncDisposable {
  readonly provider: FakeProvider;
  /** The provider's own client. */
  readonly official: (stream: string) => Promise<Reading>;
  readonly ours: ReadBy;
  /** Our adapter of the AI SDK, with the provider's package. Null if no package is compared. */
  readonly aiSdk: ReadBy | null;
  /** Asks by our adapter, and by the provider's own client with the same reasoning. */
  readonly askForReasoning: ((reasoning: NonNullable<ModelRequest['reasoning']>) => Promise<void>) | null;
}

export function openReaders(protocol: Protocol): Promise<ProtocolReaders> {
  return protocol === 'messages' ? messagesReaders() : openAiReaders(protocol);
}

async function openAiReaders(protocol: Exclude<Protocol, 'messages'>): Promise<ProtocolReaders> {
  const rig = await setUp(protocol);
  const client = new OpenAI({ baseURL: rig.provider.baseUrl, apiKey: KEY, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  return {
    provider: rig.provider,
    async official() {
      const { failed, ...read } = await readByOfficialClient(client, protocol);
      return { failed, ...read };
    },
    async ours(_, output) {
      let failed = false;
      const result = await rig.ask({}, undefined, output).done.catch((error: Error) => {
        if (error.name !== 'ModelFailure') throw error;
        failed = true;
      });
      const usage = result?.usage ?? output.reported;
      return {
        failed,
        text: output.all('text'),
        reasoning: output.all('reasoning'),
        // A call of a failed response is never made.
        calls: failed ? [] : output.calls,
        usage: usage && [usage.inputTokens, usage.cachedTokens, usage.outputTokens, usage.reasoningTokens],
      };
    },
    aiSdk: null,
    async askForReasoning(reasoning) {
      await rig.ask({ reasoning }).done;
      const effort = reasoning.effort ?? null;
      if (protocol === 'responses')
        await client.responses.stream({ model: 'm', input: 'Hi', reasoning }).finalResponse();
      else
        await client.chat.completions.stream({ model: 'm', messages, reasoning_effort: effort }).finalChatCompletion();
    },
    [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose](),
  };
}

/** Has thinking, and a part that is not understood: then nothing is sent back. */
const NOT_SENT_BACK = 'delta of another kind';

async function messagesReaders(): Promise<ProtocolReaders> {
  const rig = await setUp('messages');
  const baseURL = rig.provider.baseUrl;
  const options = { apiKey: KEY, maxRetries: 0, logLevel: 'off' } as const;
  const client = new Anthropic({ baseURL: baseURL.replace(/\/v1$/, ''), ...options });
  const sdkModel = anthropicByAiSdk(baseURL, 'm');
  const chooseReading = (read: ReadMessage, { replays }: Listener) => comparable(read, replays.length > 0);
  return {
    provider: rig.provider,
    async official(stream) {
      const read = await readByAnthropicClient(client);
      return comparable(read, read.stop === 'complete' && stream !== NOT_SENT_BACK);
    },
    ours: async (_, output) => chooseReading(await readByModel(output, rig.ask({}, undefined, output).done), output),
    async aiSdk(_, output) {
      const done = sdkModel.call(modelRequest('Hi'), output, new AbortController().signal);
      return chooseReading(await readByModel(output, done), output);
    },
    askForReasoning: null,
    [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose](),
  };
}

/** Is full after each piece, and has room again in the next turn of the event loop. */
export class HaltingListener extends Listener {
  halts = 0;
  #taken = 0;
  override get isFull(): boolean {
    return this.heard.length > this.#taken;
  }
  override onceRoom(onRoom: () => void): void {
    this.halts += 1;
    setImmediate(() => {
      this.#taken = this.heard.length;
      onRoom();
    });
  }
}
