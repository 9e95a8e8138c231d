import type { Audit } from '../audit/audit.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { deleteSchedule } from '../store/queries/schedules.ts';
import type { Store } from '../store/store.ts';

/** Its runs remain. Its ticks are swept later. */
export async function deleteScheduleById(
  store: Store,
  integrationId: IntegrationId,
  scheduleId: string,
  audit: Audit,
): Promise<void> {
  const deleted = await store.transact('account', async (tx) => {
    const count = await tx.run(deleteSchedule, { integrationId, scheduleId });
    if (count > 0) await audit(tx, { target: ['schedule', scheduleId], integrationId });
    return count;
  });
  if (deleted === 0) throw new Refusal('schedule_not_found');
}
