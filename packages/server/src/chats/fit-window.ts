/** A turn of a chat, measured. Both measures are the same in each later turn of the chat. */
export interface MeasuredTurn {
  /** What it takes in the prompt. */
  readonly tokens: number;
  /**
   * Tokens of all message texts of the chat before it, and up to its end. The chat's row says how many there are in
   * all, so these are known of the newest turns without a look at the older ones.
   */
  readonly begins: number;
  readonly ends: number;
}

/**
 * How many of these turns, oldest first, are left out so that the rest takes no more than `budget`. Whole turns only:
 * never between a call and its output. What is left out grows in quarters of the budget: between two such moments the
 * prompt begins the same each turn, as the providers' caches want it. For this the chat has marks, one for each quarter
 * of a budget of message texts; a turn with a mark in it is the last to be left out. Where tools say so much beside the
 * texts that no mark lies in the quarter in question, the marks are halved until one does.
 *
 * Older turns change nothing: once the given ones take more than the budget, what came before need not be read.
 */
export function turnsToLeaveOut(turns: readonly MeasuredTurn[], budget: number): number {
  let leftOut = turns.length;
  let kept = 0;
  for (; leftOut > 0; leftOut -= 1) {
    const tokens = turns[leftOut - 1]?.tokens ?? 0;
    if (kept + tokens > budget) break;
    kept += tokens;
  }
  if (leftOut === 0) return 0;
  const quarter = Math.max(1, Math.ceil(budget / 4));
  let best = leftOut;
  let bestHalvings = halvings(turns[leftOut - 1], quarter);
  for (let next = leftOut; bestHalvings > 0 && next < turns.length; next += 1) {
    kept -= turns[next]?.tokens ?? 0;
    if (kept < budget - quarter) break;
    const needed = halvings(turns[next], quarter);
    if (needed < bestHalvings) {
      best = next + 1;
      bestHalvings = needed;
    }
  }
  return best;
}

const MOST_HALVINGS = 20;

/** How often the marks are to be halved until one lies in this turn. */
function halvings(turn: MeasuredTurn | undefined, quarter: number): number {
  if (turn === undefined) return MOST_HALVINGS;
  for (let halved = 0, apart = quarter; halved < MOST_HALVINGS; halved += 1, apart /= 2) {
    if (Math.floor(turn.ends / apart) > Math.floor(turn.begins / apart)) return halved;
  }
  return MOST_HALVINGS;
}

/**
 * What the earlier turns may take of a model's window: half of it, or where that is less, what instructions, tools and
 * the new message leave of four fifths. The rest is for the run itself, and for texts of more tokens than estimated.
 */
export function historyBudget(windowTokens: number, otherTokens: number): number {
  return Math.max(0, Math.min(Math.floor(windowTokens / 2), Math.floor(windowTokens * 0.8) - otherTokens));
}
