import type { Chunk, RunLog } from './run-log.ts';

/** The chunks of one run that are not stored. */
export interface UnstoredChunks {
  readonly log: RunLog;
  readonly chunks: readonly Chunk[];
}

/**
 * Splits the work into transactions, in order. Each has at most `maxBytes`, or one chunk. After an outage there is more to
 * store than a database accepts before one transaction times out.
 */
export function inPortions(work: readonly UnstoredChunks[], maxBytes: number): UnstoredChunks[][] {
  const portions: UnstoredChunks[][] = [];
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
