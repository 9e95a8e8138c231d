import type { JsonObject } from './provider-failure.ts';

/**
 * A language model of the AI SDK, specification v3 or v4: the parts that the adapter uses. The types are our own, so that
 * the server depends on no version of the AI SDK.
 */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  /** Takes an `AiSdkCall`. The type of the options depends on the version of the AI SDK. */
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream<unknown> }>;
}

export interface AiSdkCall extends JsonObject {
  readonly prompt: readonly AiSdkMessage[];
  readonly abortSignal: AbortSignal;
}

export interface AiSdkMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | JsonObject[];
}
