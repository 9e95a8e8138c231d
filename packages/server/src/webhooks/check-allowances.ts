import { allowanceJson, periodStartMs, usedAmount } from '../domain/admission/allowance.ts';
import { periodDays } from '../store/queries/allowance.ts';
import type { Person } from '../store/queries/erasures.ts';
import { lockMember } from '../store/queries/locks.ts';
import { type CheckRow, checksOfMember, deleteCheck, membersToCheck } from '../store/queries/webhook-checks.ts';
import type { Store, Tx } from '../store/store.ts';
import type { EventOutbox } from './event-outbox.ts';

const MEMBERS = 100;
const MILLION = 1_000_000;

/** Records `member.allowance_exhausted` for members whose charges have reached their limit. */
export async function checkAllowances(store: Store, outbox: EventOutbox): Promise<void> {
  for (const row of await store.reads.all(membersToCheck, { limit: MEMBERS })) {
    const person = { integrationId: row.integration_id, consumerId: row.consumer_id };
    await store.transact('webhook', (tx) => checkMember(tx, outbox, person));
  }
}

async function checkMember(tx: Tx, outbox: EventOutbox, person: Person): Promise<void> {
  // Nodes check a member one after the other.
  await tx.all(lockMember, person);
  const now = Date.now();
  const checks = await tx.all(checksOfMember, { ...person, ...periodDays(now) });
  for (const { check_id: checkId } of checks) await tx.run(deleteCheck, { checkId });
  const [state] = checks;
  if (state === undefined || !hasReachedLimit(checks)) return;
  const { unit, period, limit_amount: limit, used, reserved } = state;
  if (unit === null || period === null || limit === null) return;
  const { integrationId, consumerId } = person;
  const type = 'member.allowance_exhausted';
  const allowance = allowanceJson(
    { unit, period, limit: Number(limit), used: usedAmount(Number(used)), reserved: Number(reserved) },
    now,
  );
  const onceKey = JSON.stringify([type, integrationId, consumerId, unit, period, periodStartMs(period, now)]);
  await outbox.record(tx, integrationId, [type], () => [
    { type, onceKey, consumerId, data: { consumerId, allowance } },
  ]);
}

/** True if these charges crossed a limit that counted when they were stored. A lowered limit crosses nothing. */
function hasReachedLimit(checks: readonly CheckRow[]): boolean {
  const charged = checks.reduce((sum, check) => sum + Number(check.amount_millionths), 0) / MILLION;
  return checks.some((check) => {
    const used = Number(check.used);
    const limit = Number(check.check_limit);
    return used >= limit && used - charged < limit;
  });
}
