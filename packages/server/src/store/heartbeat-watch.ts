import type { SeenHeartbeat } from './heartbeats.ts';

/**
 * Finds the silent nodes: nodes whose heartbeat did not change for a lease's length, measured by the clock of this
 * process, while it reached the database the whole time. After a gap the watch starts again, because whatever kept this
 * process from reading may have kept the other nodes from writing.
 */
export class HeartbeatWatch {
  readonly #leaseMs: number;
  readonly #gapMs: number;
  readonly #seen = new Map<string, { readonly beat: number; readonly since: number }>();
  #lastAnswerAt = Number.NEGATIVE_INFINITY;

  constructor(leaseMs: number, gapMs: number) {
    this.#leaseMs = leaseMs;
    this.#gapMs = gapMs;
  }

  /**
   * The heartbeats were read at some time between `askedAt` and `answeredAt`, so a node counts as silent only for the
   * time that is certain: from the last answer with this heartbeat to the current question.
   */
  observe(askedAt: number, answeredAt: number, beats: readonly SeenHeartbeat[]): SeenHeartbeat[] {
    if (answeredAt - this.#lastAnswerAt > this.#gapMs) this.#seen.clear();
    this.#lastAnswerAt = answeredAt;
    const silent: SeenHeartbeat[] = [];
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
