import { aiSdkCall, isWholeReplay, searchTool } from './ai-sdk-call.ts';
import { AiSdkReader } from './ai-sdk-reader.ts';
import type { AiSdkLanguageModel } from './ai-sdk-types.ts';
import type { Model, ModelOutput, ModelRequest, ModelResult } from './model.ts';
import { ModelFailure } from './model-failure.ts';
import { fittingRequest } from './model-traits.ts';
import {
  brokenStream,
  failureOfConnection,
  failureOfStatus,
  isObject,
  ProviderFailure,
  type ProviderTarget,
  quoted,
  silenceFailure,
} from './provider-failure.ts';
import type { ModelTraits } from './providers.ts';
import { fittingReplays, newReplay } from './replays.ts';
import { type AnswerHeaders, retryAdvice } from './retry-advice.ts';
import { retryCalls } from './retry-calls.ts';
import { instructionsFor, OutputForms } from './structured-output.ts';

const VERSIONS: ReadonlySet<unknown> = new Set(['v3', 'v4']);

/** True if the value is a language model of the AI SDK that the adapter can call. */
export function isAiSdkModel(value: unknown): value is AiSdkLanguageModel {
  return isObject(value) && typeof value.doStream === 'function' && VERSIONS.has(value.specificationVersion);
}

/**
 * Makes a model of one of the AI SDK. The AI SDK hides bytes and pings, so a provider is silent while no part arrives.
 * No message contains one of the `secrets`.
 */
export function aiSdkModel(
  id: string,
  model: AiSdkLanguageModel,
  silenceMs: number,
  traits: ModelTraits = {},
  secrets: readonly string[] = [],
): Model {
  const of = `the provider of ${id}`;
  const settings = { key: `the key of ${of}`, baseUrl: `the address of ${of}`, api: null };
  // The package has the key, if the provider needs one.
  const target = { model: model.modelId, apiKey: '', secrets, settings };
  const forms = new OutputForms();
  return {
    id,
    watchesSilence: true,
    windowTokens: traits.window,
    takesPdf: traits.pdf ?? false,
    searchesWeb: searchTool(model).length > 0,
    call: (request, output, signal) =>
      forms.call(fittingRequest(request, traits), traits.output !== false, (one) =>
        call(one.output === undefined ? one : withBoth(one, one.output), output, signal),
      ),
  };

  async function call(request: ModelRequest, output: ModelOutput, signal: AbortSignal): Promise<ModelResult> {
    const { tools, webSearch, reasoning } = request;
    const prefix = {
      model: id,
      head: [model.provider, request.instructions, JSON.stringify([tools, webSearch === true, reasoning ?? null])],
      prompt: request.prompt,
    };
    const replays = fittingReplays(prefix, request.replays ?? [], (one) => isWholeReplay(request, one));
    const reader = await retryCalls({ signal, mayCall: request.mayCall, tries: request.tries }, () => {
      const attempt = new AiSdkReader(target, output);
      const watch = new SilenceWatch(silenceMs, signal);
      const work = aiSdkCall(model, request, replays, watch.signal)
        .then((call) => model.doStream(call as never))
        .then(({ stream }) => readAll(stream, attempt, output, watch));
      const done = Promise.race([work, watch.failed]).catch((error: unknown) => {
        signal.throwIfAborted();
        throw toFailure(target, error, attempt.hasParts);
      });
      return {
        done: done.finally(() => watch.end()).then(() => attempt),
        hasOutput: () => attempt.hasOutput,
      };
    });
    const { content } = reader;
    const replay = content === null ? null : newReplay(prefix, content);
    if (replay !== null) output.replay(replay);
    const { usage, responseId, finishReason } = reader;
    return { usage, responseId, finishReason };
  }

  async function readAll(
    stream: ReadableStream<unknown>,
    reader: AiSdkReader,
    output: ModelOutput,
    watch: SilenceWatch,
  ): Promise<void> {
    const { signal } = watch;
    output.begun();
    const parts = stream.getReader();
    const stop = () => void parts.cancel().catch(() => {});
    signal.addEventListener('abort', stop);
    try {
      while (!reader.isComplete) {
        if (output.isFull) await watch.pausedFor(room(output, signal));
        const { done, value } = await parts.read();
        signal.throwIfAborted();
        watch.heard();
        if (done) throw brokenStream(target, reader.hasParts);
        reader.take(value);
      }
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
  }
}

/** Packages differ in what they make of a schema, and some drop it. So the instructions contain it too. */
function withBoth(request: ModelRequest, output: NonNullable<ModelRequest['output']>): ModelRequest {
  return { ...request, instructions: instructionsFor(request.instructions, output) };
}

/** Aborts an attempt if no part arrives for too long. Also rejects for a package that ignores its signal. */
class SilenceWatch {
  /** Aborted if the provider is silent, or if the call is aborted. */
  readonly signal: AbortSignal;
  /** Rejects if the provider is silent. */
  readonly failed: Promise<never>;
  readonly #timer: NodeJS.Timeout;
  #isPaused = false;

  constructor(silenceMs: number, call: AbortSignal) {
    const silence = new AbortController();
    this.signal = AbortSignal.any([call, silence.signal]);
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.failed = promise;
    this.#timer = setTimeout(() => {
      // The provider is not silent if this server does not read.
      if (this.#isPaused) this.#timer.refresh();
      else {
        reject(silenceFailure(silenceMs));
        silence.abort();
      }
    }, silenceMs);
  }

  heard(): void {
    this.#timer.refresh();
  }

  async pausedFor(wait: Promise<void>): Promise<void> {
    this.#isPaused = true;
    await wait;
    this.#isPaused = false;
    this.heard();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

/** Resolves when the log has room again, or when the call is aborted. */
function room(output: ModelOutput, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    output.onceRoom(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

const INVALID_HEADER = /invalid header|invalid character in header/i;

/** Errors of the AI SDK are recognised by their fields: an agency may bring another copy of its classes. */
function toFailure(target: ProviderTarget, error: unknown, hasParts: boolean): unknown {
  if (error instanceof ProviderFailure || error instanceof ModelFailure || !(error instanceof Error)) return error;
  // The message repeats the header, which may contain a key that only the package knows.
  if (INVALID_HEADER.test(error.message)) {
    const sentence = `The model \`${target.model}\` could not be called: a header has a character that is not allowed; check ${target.settings.key} for spaces and line breaks.`;
    return new ProviderFailure(new ModelFailure('model_error', sentence), false);
  }
  const { statusCode, responseBody, responseHeaders, isRetryable } = error as Error & Readonly<Record<string, unknown>>;
  // The connection broke while a good answer arrived.
  if (statusCode === 200) return brokenStream(target, hasParts);
  if (typeof statusCode === 'number') {
    const headers = isObject(responseHeaders) ? (responseHeaders as AnswerHeaders) : {};
    const body = typeof responseBody === 'string' ? responseBody : '';
    return failureOfStatus(target, statusCode, body, retryAdvice(headers));
  }
  if (isRetryable === true) return failureOfConnection(target, error);
  return new ProviderFailure(
    new ModelFailure(
      'model_error',
      `The model \`${target.model}\` could not be called${quoted(target, error.message)}.`,
      {
        cause: error,
      },
    ),
    false,
  );
}
