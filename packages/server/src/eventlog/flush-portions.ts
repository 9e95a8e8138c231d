import type { Chunk, RunLog } from './run-log.ts';

/** What one run has to store. */
export interface Unstored {
  readonly log: RunLog;
  readonly chunks: readonly Chunk[];
}

/**
 * What is written in one transaction each, in order: of all runs together no more than `maxBytes`, or one chunk. Behind
 * an outage there is more than a database takes in the time that it is waited for.
 */
export function inPortions(work: readonly Unstored[], maxBytes: number): Unstored[][] {
  const portions: Unstored[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const { log, chunks } of work) {
    let mine: Chunk[] | null = null;
    for (const chunk of chunks) {
      const size = Buffer.byteLength(chunk.data);
      if (bytes + size > maxBytes) {
        portions.push([]);
        bytes = 0;
        mine = null;
      }
      if (mine === null) {
        mine = [];
        portions.at(-1)?.push({ log, chunks: mine });
      }
      mine.push(chunk);
      bytes += size;
    }
  }
  return portions;
}
