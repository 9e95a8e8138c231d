import { createAnthropic } from '@ai-sdk/anthropic';
import { aiSdkModel } from '@runwire/models/ai-sdk';
import type { Model } from '@runwire/server/src/agent/ports.ts';

/** A model of Anthropic that our adapter of the AI SDK calls by `@ai-sdk/anthropic`. */
export function anthropicByAiSdk(baseURL: string, model: string): Model {
  return aiSdkModel(`ai/${model}`, createAnthropic({ baseURL, apiKey: 'sk-1' })(model), 60_000);
}
