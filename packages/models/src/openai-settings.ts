import type { ModelRequest } from './model.ts';
import type { JsonObject } from './provider-failure.ts';

/** The names that differ between the protocols of OpenAI. */
export interface SettingForms {
  readonly maxTokens: string;
  readonly toolChoice: (name: string) => JsonObject;
}

/** An agent's settings. Servers refuse settings of tools in a request without tools. */
export function openAiSettings({ settings = {}, tools, webSearch }: ModelRequest, forms: SettingForms): JsonObject {
  const { temperature, topP, maxOutputTokens, parallelToolCalls, toolChoice } = settings;
  const sampled = { temperature, top_p: topP, [forms.maxTokens]: maxOutputTokens };
  if (tools.length === 0 && webSearch !== true) return sampled;
  const named = tools.find(({ name }) => name === toolChoice);
  return {
    ...sampled,
    parallel_tool_calls: parallelToolCalls,
    tool_choice: named === undefined ? toolChoice : forms.toolChoice(named.name),
  };
}
