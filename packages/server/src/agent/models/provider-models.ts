import {
  chosenApi,
  type ModelTraits,
  PROVIDERS,
  type ProviderApi,
  type ProviderSettingNames,
  providerSettingNames,
} from '../../domain/providers.ts';
import type { Model, ModelOutput, ModelRequest, ModelResult } from '../ports.ts';
import { claudeModel } from './claude-models.ts';
import { callMessages } from './messages-call.ts';
import { fittingRequest } from './model-traits.ts';
import { ChatReader, chatBody, chatDialect } from './openai-chat.ts';
import { ResponsesReader, responsesBody } from './openai-responses.ts';
import type { ProtocolCall } from './protocol-call.ts';
import { type JsonObject, refusedAnswer } from './provider-failure.ts';
import { ProviderTransport } from './provider-transport.ts';
import { isObjectSchema, messagesSchema, OutputForms } from './structured-output.ts';

export interface ProviderOptions {
  /** The first part of the ids of its models. */
  readonly name: string;
  readonly api: ProviderApi;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** How long the provider may send nothing, also before its first byte. */
  readonly silenceMs: number;
  /** Absent: the names of its settings in the environment. */
  readonly settings?: ProviderSettingNames;
  /** What `providers.yaml` declares about single models. */
  readonly models?: ReadonlyMap<string, ModelTraits>;
}

interface Protocol {
  readonly path: string;
  readonly takesPdf: boolean;
  readonly searchesWeb: boolean;
  /** True if the protocol can send this schema to this model. */
  readonly takesSchema: (model: string, schema: JsonObject) => boolean;
  readonly headers: (apiKey: string | null) => Readonly<Record<string, string>>;
  readonly call: (call: ProtocolCall, request: ModelRequest) => Promise<ModelResult>;
}

function bearer(apiKey: string | null): Record<string, string> {
  return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
}

const PROTOCOLS: Readonly<Record<ProviderApi, Protocol>> = {
  responses: {
    path: '/responses',
    takesPdf: true,
    searchesWeb: true,
    takesSchema: (_, schema) => isObjectSchema(schema),
    headers: bearer,
    call: ({ target, output, ask }, request) =>
      ask(responsesBody(target.model, request), () => new ResponsesReader(target, output)),
  },
  chat: {
    path: '/chat/completions',
    // Most servers with this protocol accept no files.
    takesPdf: false,
    searchesWeb: false,
    takesSchema: (_, schema) => isObjectSchema(schema),
    headers: bearer,
    call: ({ provider, target, output, ask }, request) =>
      ask(chatBody(target.model, request, chatDialect(provider)), () => new ChatReader(target, output)),
  },
  messages: {
    path: '/v1/messages',
    takesPdf: true,
    searchesWeb: true,
    takesSchema: (model, schema) => claudeModel(model).takesSchema && messagesSchema(schema) !== null,
    headers: (apiKey) => ({
      'anthropic-version': '2023-06-01',
      ...(apiKey === null ? {} : { 'x-api-key': apiKey }),
    }),
    call: callMessages,
  },
};

/** Most servers that imitate OpenAI have Chat Completions only, and answer 404 to the Responses API. */
export function withoutResponses({
  name,
  api,
  baseUrl,
  settings = providerSettingNames(name),
}: Pick<ProviderOptions, 'name' | 'api' | 'baseUrl' | 'settings'>): string | undefined {
  if (api !== 'responses' || settings.api === null || baseUrl === PROVIDERS.get(name)?.baseUrl) return undefined;
  return `If the server has no Responses API, like vLLM and Ollama, set ${chosenApi(settings.api, 'chat')}.`;
}

interface CalledModel {
  readonly id: string;
  readonly traits: ModelTraits;
  /** True if the answer must be JSON, also if the provider does not know it. */
  readonly isStructured: boolean;
}

/** All models of a provider, with shared connections. */
export class ProviderModels implements AsyncDisposable {
  readonly #options: ProviderOptions;
  readonly #protocol: Protocol;
  readonly #transport: ProviderTransport;
  readonly #models = new Map<string, Model>();
  readonly #withoutResponses: string | undefined;

  constructor(options: ProviderOptions) {
    const { api, apiKey, silenceMs } = options;
    this.#protocol = PROTOCOLS[api];
    // The path of this protocol contains the version, and the address of Anthropic does not.
    const baseUrl = api === 'messages' ? options.baseUrl.replace(/\/v1$/, '') : options.baseUrl;
    this.#options = { ...options, baseUrl };
    this.#withoutResponses = withoutResponses(options);
    this.#transport = new ProviderTransport({ baseUrl, headers: this.#protocol.headers(apiKey), silenceMs });
  }

  /** Takes `provider/model`. Returns null if the id does not belong to this provider. */
  model(id: string): Model | null {
    const prefix = `${this.#options.name}/`;
    if (!id.startsWith(prefix) || id === prefix) return null;
    let model = this.#models.get(id);
    if (model === undefined) {
      const traits = this.#options.models?.get(id.slice(prefix.length)) ?? {};
      const forms = new OutputForms();
      const name = id.slice(prefix.length);
      const takesSchema = ({ output: schema }: ModelRequest) =>
        schema !== undefined && traits.output !== false && this.#protocol.takesSchema(name, schema);
      model = {
        id,
        watchesSilence: true,
        windowTokens: traits.window,
        takesPdf: traits.pdf ?? this.#protocol.takesPdf,
        searchesWeb: this.#protocol.searchesWeb,
        call: (request, output, signal) =>
          forms.call(fittingRequest(request, traits), takesSchema(request), (one) =>
            this.#call({ id, traits, isStructured: request.output !== undefined }, one, output, signal),
          ),
      };
      this.#models.set(id, model);
    }
    return model;
  }

  async #call(
    { id, traits, isStructured }: CalledModel,
    request: ModelRequest,
    output: ModelOutput,
    signal: AbortSignal,
  ): Promise<ModelResult> {
    const { name, apiKey, baseUrl, settings = providerSettingNames(name) } = this.#options;
    const target = {
      model: id.slice(name.length + 1),
      apiKey,
      settings,
      withoutResponses: this.#withoutResponses,
    };
    const { path, call } = this.#protocol;
    const { usage } = await call(
      {
        id,
        provider: name,
        target,
        traits,
        address: baseUrl,
        output,
        ask: async (body, newReader) => {
          const reader = await this.#transport.stream({
            target,
            path,
            body: typeof body === 'string' ? Buffer.from(body) : body,
            signal,
            output,
            mayCall: request.mayCall,
            newReader,
          });
          // The text of a refusal is no structured answer.
          if (isStructured && reader.refusal !== '') throw refusedAnswer(target, reader.refusal).failure;
          return reader;
        },
      },
      request,
    );
    return { usage };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#transport[Symbol.asyncDispose]();
  }
}
