import type { ModelTraits } from '../../domain/providers.ts';
import { RunFailure } from '../../domain/run-failure.ts';
import type { Model, ModelOutput, ModelRequest, ModelResult } from '../ports.ts';
import { aiSdkCall, isWholeReplay } from './ai-sdk-call.ts';
import { AiSdkReader } from './ai-sdk-reader.ts';
import type { AiSdkLanguageModel } from './ai-sdk-types.ts';
import { fittingRequest } from './model-traits.ts';
import {
  brokenStream,
  failureOfConnection,
  failureOfStatus,
  isObject,
  ProviderFailure,
  type ProviderTarget,
} from './provider-failure.ts';
import { fittingReplays, newReplay } from './replays.ts';
import { type AnswerHeaders, retryAdvice } from './retry-advice.ts';
import { retryCalls } from './retry-calls.ts';

const VERSIONS: ReadonlySet<unknown> = new Set(['v3', 'v4']);

/** True if the value is a language model of the AI SDK that the adapter can call. */
export function isAiSdkModel(value: unknown): value is AiSdkLanguageModel {
  return isObject(value) && typeof value.doStream === 'function' && VERSIONS.has(value.specificationVersion);
}

/** Makes a model of one of the AI SDK. The AI SDK hides bytes and pings, so the run watches for silence. */
export function aiSdkModel(id: string, model: AiSdkLanguageModel, traits: ModelTraits = {}): Model {
  const of = `the provider of ${id}`;
  const settings = { key: `the key of ${of}`, baseUrl: `the address of ${of}`, api: null };
  const target = { model: model.modelId, apiKey: null, settings };
  return {
    id,
    windowTokens: traits.window,
    takesPdf: traits.pdf ?? false,
    async call(asked: ModelRequest, output: ModelOutput, signal: AbortSignal): Promise<ModelResult> {
      const request = fittingRequest(asked, traits);
      const prefix = {
        model: id,
        head: [model.provider, request.instructions, JSON.stringify([request.tools, request.reasoning ?? null])],
        prompt: request.prompt,
      };
      const replays = fittingReplays(prefix, request.replays ?? [], (one) => isWholeReplay(request, one));
      const reader = await retryCalls({ signal, mayCall: request.mayCall }, () => {
        const attempt = new AiSdkReader(target, output);
        const done = aiSdkCall(model.specificationVersion, request, replays, signal)
          .then((call) => model.doStream(call as never))
          .then(({ stream }) => readAll(stream, attempt, output, signal))
          .catch((error: unknown) => {
            signal.throwIfAborted();
            throw failureOf(target, error);
          });
        return { done: done.then(() => attempt), hasOutput: () => attempt.hasOutput };
      });
      const { content } = reader;
      const replay = content === null ? null : newReplay(prefix, content);
      if (replay !== null) output.replay(replay);
      return { usage: reader.usage };
    },
  };

  async function readAll(
    stream: ReadableStream<unknown>,
    reader: AiSdkReader,
    output: ModelOutput,
    signal: AbortSignal,
  ): Promise<void> {
    output.begun();
    const parts = stream.getReader();
    const stop = () => void parts.cancel().catch(() => {});
    signal.addEventListener('abort', stop);
    try {
      while (!reader.isComplete) {
        if (output.isFull) await room(output, signal);
        const { done, value } = await parts.read();
        signal.throwIfAborted();
        if (done) throw brokenStream(target, true);
        reader.take(value);
      }
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
  }
}

/** Resolves when the log has room again, or when the call is aborted. */
function room(output: ModelOutput, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    output.onceRoom(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Errors of the AI SDK are recognised by their fields: an agency may bring another copy of its classes. */
function failureOf(target: ProviderTarget, error: unknown): unknown {
  if (error instanceof ProviderFailure || error instanceof RunFailure || !(error instanceof Error)) return error;
  const { statusCode, responseBody, responseHeaders, isRetryable } = error as Error & Readonly<Record<string, unknown>>;
  if (typeof statusCode === 'number') {
    const headers = isObject(responseHeaders) ? (responseHeaders as AnswerHeaders) : {};
    const body = typeof responseBody === 'string' ? responseBody : '';
    return failureOfStatus(target, statusCode, body, retryAdvice(headers));
  }
  if (isRetryable === true) return failureOfConnection(target, error);
  return new ProviderFailure(
    new RunFailure('model_error', `The model \`${target.model}\` could not be called: ${oneLine(error.message)}.`, {
      cause: error,
    }),
    false,
  );
}

function oneLine(message: string): string {
  return message.replace(/\s+/g, ' ').trim().replace(/\.$/, '').slice(0, 300);
}
