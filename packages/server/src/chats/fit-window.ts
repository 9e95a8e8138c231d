/** A turn's size. It stays the same in every later turn of the chat. */
export interface MeasuredTurn {
  /** The turn's tokens in the prompt. */
  readonly tokens: number;
  /**
   * The tokens of all message texts of the chat before this turn, and up to its end. The chat's row has the total, so both
   * are known for the newest turns without reading the older ones.
   */
  readonly begins: number;
  readonly ends: number;
}

/**
 * Returns how many of these turns, oldest first, are left out so that the rest fits into `budget`. Only whole turns are
 * left out, so a call is never separated from its output.
 *
 * The part that is left out grows in steps of a quarter of the budget. Between two steps the prompt starts with the same
 * bytes each turn, so the provider's cache can use them. The steps are marks in the chat, one for each quarter of the
 * budget of message text; the last turn that is left out contains a mark. If tool outputs are so long that the quarter in
 * question contains no mark, the marks' distance is halved until it does.
 *
 * Older turns do not change the result: if the given turns exceed the budget, the turns before them need not be read.
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

/** Returns how often the distance of the marks must be halved until this turn contains one. */
function halvings(turn: MeasuredTurn | undefined, quarter: number): number {
  if (turn === undefined) return MOST_HALVINGS;
  for (let halved = 0, apart = quarter; halved < MOST_HALVINGS; halved += 1, apart /= 2) {
    if (Math.floor(turn.ends / apart) > Math.floor(turn.begins / apart)) return halved;
  }
  return MOST_HALVINGS;
}
