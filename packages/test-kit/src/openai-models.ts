import type { ProviderModels, ProviderOptions } from '@runwire/models/provider-models';
import { providerModels } from '@runwire/server/src/compose/open-models.ts';

export type OpenAiModels = ProviderModels;

export function openAiModels(options: Omit<ProviderOptions, 'name'>): Promise<OpenAiModels> {
  return providerModels({ name: 'openai', ...options });
}
