import type { IntegrationId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { deleteSchedule } from '../store/queries/schedules.ts';
import type { Store } from '../store/store.ts';

/** Its runs remain. Its ticks are swept later. */
export async function deleteScheduleById(
  store: Store,
  integrationId: IntegrationId,
  scheduleId: string,
): Promise<void> {
  const deleted = await store.transact('account', (tx) => tx.run(deleteSchedule, { integrationId, scheduleId }));
  if (deleted === 0) throw new Refusal('schedule_not_found');
}
