import { claudeModel } from './claude-models.ts';

/** OpenAI's models that always reason. They refuse the setting. */
const REASONING = /^(?:o\d|gpt-5)(?!.*-chat)/;

/** True if the model with this id (`provider/model`) accepts the setting `temperature`. */
export function takesTemperature(id: string): boolean {
  // Some providers resell other providers' models: `openrouter/openai/gpt-5`.
  const name = id.slice(id.lastIndexOf('/') + 1);
  return name.includes('claude-') ? claudeModel(name).takesSampling : !REASONING.test(name);
}
