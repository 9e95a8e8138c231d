import { withTimeout } from '@runwire/lib/with-timeout.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import type { Reads } from './store.ts';

/** Limits how long each read may take. A store that hangs is reported as unavailable. */
export function readsWithTimeout(reads: Reads, timeoutMs: number): Reads {
  const late = () => {
    throw new StoreUnavailable(`The store did not answer within ${timeoutMs} ms.`);
  };
  return {
    all: (statement, params) => withTimeout(reads.all(statement, params), timeoutMs, late),
    query: (build) => withTimeout(reads.query(build), timeoutMs, late),
  };
}
