import type { StepPrompt, Usage } from '@runwire/client';

/**
 * How many of the first messages the provider took from its cache: it reports tokens, so this is an estimate by the sizes of
 * the parts. Providers cache from the start: tools and instructions come first.
 */
export function countCached({ instructions, tools, messages }: StepPrompt, usage: Usage | null): number {
  if (usage === null || usage.cached_tokens === 0) return 0;
  const head = (instructions ?? '').length + JSON.stringify(tools).length;
  const sizes = messages.map((message) => JSON.stringify(message).length);
  const whole = sizes.reduce((sum, size) => sum + size, head);
  const cached = (whole * usage.cached_tokens) / Math.max(1, usage.input_tokens);
  let end = head;
  let count = 0;
  for (const size of sizes) {
    end += size;
    if (end > cached) break;
    count += 1;
  }
  return count;
}
