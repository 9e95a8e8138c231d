import { pendingAfter, skipPending } from '../store/queries/webhook-deliveries.ts';
import { first, type Tx } from '../store/store.ts';

/** Rows per transaction, so that others do not wait long: 300 000 rows in one transaction took 2.8 s. */
const BATCH = 1000;

/** Skips some pending deliveries, if their endpoint gets nothing any more. Resolves to true if there may be more. */
export async function skipSome(tx: Tx, endpointId: string, now: number): Promise<boolean> {
  const rest = await first(tx.all(pendingAfter, { endpointId, count: BATCH }));
  const skipped = await tx.run(skipPending, {
    endpointId,
    now,
    beforeAt: rest?.next_attempt_at ?? Number.MAX_SAFE_INTEGER,
    beforeId: rest?.delivery_id ?? '',
  });
  return rest !== undefined && skipped > 0;
}
