import type { Model, ModelOutput, ModelRequest, ModelResult } from '../ports.ts';
import { ChatReader, chatBody } from './openai-chat.ts';
import { ResponsesReader, responsesBody } from './openai-responses.ts';
import { type OpenAiEndpoint, OpenAiTransport } from './openai-transport.ts';
import type { ProviderTarget } from './provider-failure.ts';

const PREFIX = 'openai/';

/** The protocols by their names in `RUNWIRE_OPENAI_API`. */
const PROTOCOLS = {
  responses: {
    path: '/responses',
    takesPdf: true,
    body: responsesBody,
    reader: (target: ProviderTarget, output: ModelOutput) => new ResponsesReader(target, output),
  },
  chat: {
    path: '/chat/completions',
    // Most servers with this protocol accept no files.
    takesPdf: false,
    body: chatBody,
    reader: (target: ProviderTarget, output: ModelOutput) => new ChatReader(target, output),
  },
} as const;

export interface OpenAiOptions extends OpenAiEndpoint {
  readonly api: keyof typeof PROTOCOLS;
}

/** All models of an OpenAI-compatible provider, with shared connections. */
export class OpenAiModels implements AsyncDisposable {
  readonly #options: OpenAiOptions;
  readonly #transport: OpenAiTransport;
  readonly #models = new Map<string, Model>();

  constructor(options: OpenAiOptions) {
    this.#options = options;
    this.#transport = new OpenAiTransport(options);
  }

  /** Takes `openai/model`. Returns null if the id does not belong to this provider. */
  model(id: string): Model | null {
    if (!id.startsWith(PREFIX) || id === PREFIX) return null;
    let model = this.#models.get(id);
    if (model === undefined) {
      const { takesPdf } = PROTOCOLS[this.#options.api];
      model = {
        id,
        watchesSilence: true,
        takesPdf,
        call: (request, output, signal) => this.#call(id, request, output, signal),
      };
      this.#models.set(id, model);
    }
    return model;
  }

  async #call(id: string, request: ModelRequest, output: ModelOutput, signal: AbortSignal): Promise<ModelResult> {
    const { path, body, reader } = PROTOCOLS[this.#options.api];
    const target = { model: id.slice(PREFIX.length), apiKey: this.#options.apiKey };
    const made = body(target.model, request);
    const { usage } = await this.#transport.stream<ChatReader | ResponsesReader>({
      target,
      path,
      body: typeof made === 'string' ? Buffer.from(made) : made,
      signal,
      output,
      mayCall: request.mayCall,
      newReader: () => reader(target, output),
    });
    return { usage };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#transport[Symbol.asyncDispose]();
  }
}
