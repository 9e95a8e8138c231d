import { skipPending } from '../store/queries/webhook-deliveries.ts';
import type { Tx } from '../store/store.ts';

/** Rows per transaction, so that others do not wait long: 300 000 rows in one transaction took 2.8 s. */
const BATCH = 1000;

/** Skips some pending deliveries, if their endpoint gets nothing any more. Resolves to true if there may be more. */
export async function skipSome(tx: Tx, endpointId: string, now: number): Promise<boolean> {
  return (await tx.run(skipPending, { endpointId, now, limit: BATCH })) === BATCH;
}
