import { StoreUnavailable } from '../domain/unavailable.ts';
import { inTime } from '../lib/in-time.ts';
import type { Reads } from './store.ts';

/** Limits how long each read may take. A store that hangs is reported as unavailable. */
export function readsWithTimeout(reads: Reads, timeoutMs: number): Reads {
  const late = () => {
    throw new StoreUnavailable(`The store did not answer within ${timeoutMs} ms.`);
  };
  return {
    all: (statement, params) => inTime(reads.all(statement, params), timeoutMs, late),
    query: (build) => inTime(reads.query(build), timeoutMs, late),
  };
}
