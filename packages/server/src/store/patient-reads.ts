import { StoreUnavailable } from '../domain/unavailable.ts';
import { inTime } from '../lib/in-time.ts';
import type { Reads } from './store.ts';

/** Limits how long each read may take. A store that hangs is reported as unavailable. */
export function patientReads(reads: Reads, patienceMs: number): Reads {
  const late = () => {
    throw new StoreUnavailable(`The store did not answer within ${patienceMs} ms.`);
  };
  return {
    all: (statement, params) => inTime(reads.all(statement, params), patienceMs, late),
    query: (build) => inTime(reads.query(build), patienceMs, late),
  };
}
