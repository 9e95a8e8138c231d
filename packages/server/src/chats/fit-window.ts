/**
 * How many of the oldest turns are left out so that the rest takes no more than `budget`. Whole turns only: never
 * between a call and its output. What is left out grows in quarters of the budget: between two such moments the prompt
 * begins the same each turn, as the providers' caches want it.
 */
export function turnsToLeaveOut(turnTokens: readonly number[], budget: number): number {
  const total = turnTokens.reduce((sum, tokens) => sum + tokens, 0);
  if (total <= budget) return 0;
  const quarter = Math.max(1, Math.ceil(budget / 4));
  const excess = Math.ceil((total - budget) / quarter) * quarter;
  let leftOut = 0;
  let tokens = 0;
  while (leftOut < turnTokens.length && tokens < excess) {
    tokens += turnTokens[leftOut] ?? 0;
    leftOut += 1;
  }
  return leftOut;
}

/**
 * What the earlier turns may take of a model's window: half of it, or where that is less, what instructions, tools and
 * the new message leave of four fifths. The rest is for the run itself, and for texts of more tokens than estimated.
 */
export function historyBudget(windowTokens: number, otherTokens: number): number {
  return Math.max(0, Math.min(Math.floor(windowTokens / 2), Math.floor(windowTokens * 0.8) - otherTokens));
}
