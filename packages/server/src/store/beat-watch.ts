import type { SeenBeat } from './node-beats.ts';

/**
 * Tells which nodes are silent: their beat stood still for the length of a lease, by this process's own clock, while it
 * saw the database all the time. After a gap it knows nothing of the time between, in which they may have been kept
 * from beating as it was from looking: everything is observed anew.
 */
export class BeatWatch {
  readonly #leaseMs: number;
  readonly #gapMs: number;
  readonly #seen = new Map<string, { readonly beat: number; readonly since: number }>();
  #lastAnswerAt = Number.NEGATIVE_INFINITY;

  constructor(leaseMs: number, gapMs: number) {
    this.#leaseMs = leaseMs;
    this.#gapMs = gapMs;
  }

  /** What was read holds for a moment between `askedAt` and `answeredAt`: nothing counts for longer than it surely stood. */
  observe(askedAt: number, answeredAt: number, beats: readonly SeenBeat[]): SeenBeat[] {
    if (answeredAt - this.#lastAnswerAt > this.#gapMs) this.#seen.clear();
    this.#lastAnswerAt = answeredAt;
    const silent: SeenBeat[] = [];
    const alive = new Set<string>();
    for (const { nodeId, beat } of beats) {
      alive.add(nodeId);
      const seen = this.#seen.get(nodeId);
      if (seen?.beat !== beat) this.#seen.set(nodeId, { beat, since: answeredAt });
      else if (askedAt - seen.since >= this.#leaseMs) silent.push({ nodeId, beat });
    }
    for (const nodeId of this.#seen.keys()) if (!alive.has(nodeId)) this.#seen.delete(nodeId);
    return silent;
  }
}
