/** The tokens that a model accepts in one request, prompt and answer together, by its id's prefix. */
const WINDOWS: Readonly<Record<string, number>> = {
  'anthropic/claude': 200_000,
  'openai/gpt-3.5-turbo': 16_385,
  'openai/gpt-4': 8_192,
  'openai/gpt-4-turbo': 128_000,
  'openai/gpt-4.1': 1_047_576,
  'openai/gpt-4o': 128_000,
  'openai/gpt-5': 400_000,
  'openai/o1': 200_000,
  'openai/o3': 200_000,
  'openai/o4-mini': 200_000,
};

/** The longest matching prefix counts. A model that is not listed has the installation's default. */
export function modelWindow(model: string, otherwise: number): number {
  let best = '';
  for (const start of Object.keys(WINDOWS)) if (model.startsWith(start) && start.length > best.length) best = start;
  return WINDOWS[best] ?? otherwise;
}

/**
 * The tokens that earlier turns, or the earlier exchanges of two agents, may use: half of the window, or four fifths minus
 * instructions, tools and the new message if that is less. The rest is for the run itself, and for texts that have more
 * tokens than estimated.
 */
export function historyBudget(windowTokens: number, otherTokens: number): number {
  return Math.max(0, Math.min(Math.floor(windowTokens / 2), Math.floor(windowTokens * 0.8) - otherTokens));
}
