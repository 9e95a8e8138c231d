import type { EventReader } from './answer-events.ts';
import { claudeModel } from './claude-models.ts';
import { callMessages } from './messages-call.ts';
import type { Model, ModelOutput, ModelRequest, ModelResult } from './model.ts';
import { fittingRequest } from './model-traits.ts';
import { ChatReader, chatBody, chatDialect } from './openai-chat.ts';
import { ResponsesReader, responsesBody } from './openai-responses.ts';
import type { CalledModel, ProtocolCall, ReaderClass } from './protocol-call.ts';
import { type JsonObject, type ProviderTarget, refusedAnswer } from './provider-failure.ts';
import { ProviderTransport, type StreamCall } from './provider-transport.ts';
import {
  chosenApi,
  type ModelTraits,
  PROVIDERS,
  type ProviderApi,
  type ProviderSettingNames,
  providerSettingNames,
} from './providers.ts';
import { BodyPrefixes, type RequestBody } from './request-body.ts';
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
  /** Absent: its settings' names in the environment. */
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
    call: (call, request) =>
      call.ask(responsesBody(call.model.target.model, request, call.model.prefixes), ResponsesReader),
  },
  chat: {
    path: '/chat/completions',
    // Most servers with this protocol accept no files.
    takesPdf: false,
    searchesWeb: false,
    takesSchema: (_, schema) => isObjectSchema(schema),
    headers: bearer,
    call: (call, request) => {
      const { provider, target, prefixes } = call.model;
      return call.ask(chatBody(target.model, request, chatDialect(provider), prefixes), ChatReader);
    },
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

/** One call of a model. It is also what the transport needs, so that a call has one object. */
class ProviderCall implements ProtocolCall, StreamCall {
  readonly model: CalledModel;
  readonly output: ModelOutput;
  readonly path: string;
  readonly signal: AbortSignal;
  readonly mayCall: ModelRequest['mayCall'];
  readonly tries: ModelRequest['tries'];
  readonly traceparent: string | undefined;
  readonly #transport: ProviderTransport;
  readonly #failsOnRefusal: boolean;
  body: RequestBody | null = null;
  #readerClass: ReaderClass<EventReader> | null = null;

  /** `failsOnRefusal`: the answer must be JSON, also if the provider does not know it, or the request has this field. */
  constructor(
    model: CalledModel,
    { path, transport }: { readonly path: string; readonly transport: ProviderTransport },
    { output, signal, mayCall, tries, traceparent, failsOnRefusal }: CallParts,
  ) {
    this.model = model;
    this.path = path;
    this.#transport = transport;
    this.output = output;
    this.signal = signal;
    this.mayCall = mayCall;
    this.tries = tries;
    this.traceparent = traceparent;
    this.#failsOnRefusal = failsOnRefusal;
  }

  get target(): ProviderTarget {
    return this.model.target;
  }

  ask<R extends EventReader>(body: RequestBody, readerClass: ReaderClass<R>): Promise<R> {
    this.body = body;
    this.#readerClass = readerClass;
    const answered = this.#transport.stream(this) as Promise<R>;
    return this.#failsOnRefusal ? answered.then(this.#checkRefusal) : answered;
  }

  newReader(): EventReader {
    if (this.#readerClass === null) throw new Error('The call has no body yet.');
    return new this.#readerClass(this.model.target, this.output);
  }

  /** A refusal's text is no answer. */
  readonly #checkRefusal = <R extends EventReader>(reader: R): R => {
    if (reader.refusal !== '') throw refusedAnswer(this.model.target, reader.refusal).failure;
    return reader;
  };
}

interface CallParts {
  readonly output: ModelOutput;
  readonly signal: AbortSignal;
  readonly mayCall: ModelRequest['mayCall'];
  readonly tries: ModelRequest['tries'];
  readonly traceparent: string | undefined;
  readonly failsOnRefusal: boolean;
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
      model = this.#makeModel(id, id.slice(prefix.length));
      this.#models.set(id, model);
    }
    return model;
  }

  #makeModel(id: string, name: string): Model {
    const {
      name: provider,
      apiKey,
      baseUrl: address,
      models,
      settings = providerSettingNames(provider),
    } = this.#options;
    const { takesPdf, searchesWeb, takesSchema, path, call } = this.#protocol;
    const traits = models?.get(name) ?? {};
    const target = { model: name, apiKey, settings, withoutResponses: this.#withoutResponses };
    const model = { id, provider, target, traits, address, prefixes: new BodyPrefixes() };
    const way = { path, transport: this.#transport };
    const forms = new OutputForms();
    const ask = (request: ModelRequest, output: ModelOutput, signal: AbortSignal, failsOnRefusal: boolean) =>
      call(
        new ProviderCall(model, way, {
          output,
          signal,
          mayCall: request.mayCall,
          tries: request.tries,
          traceparent: request.traceparent,
          failsOnRefusal,
        }),
        request,
      );
    return {
      id,
      address,
      watchesSilence: true,
      windowTokens: traits.window,
      takesPdf: traits.pdf ?? takesPdf,
      searchesWeb,
      call: (given, output, signal) => {
        const request = fittingRequest(given, traits);
        const { output: schema } = request;
        if (schema === undefined) return ask(request, output, signal, request.failsOnRefusal === true);
        const isSent = traits.output !== false && takesSchema(name, schema);
        return forms.call(request, isSent, (one) => ask(one, output, signal, true));
      },
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#transport[Symbol.asyncDispose]();
  }
}
