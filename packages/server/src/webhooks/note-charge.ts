import { type AllowanceUnit, periodFirstDay } from '../domain/admission/allowance.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { insertCheck, memberLimit } from '../store/queries/webhook-checks.ts';
import { first, type Tx } from '../store/store.ts';
import type { EventOutbox } from './event-outbox.ts';

interface MemberCharge {
  /** The run or the adjustment. */
  readonly id: string;
  readonly integrationId: IntegrationId;
  readonly consumerId: string;
  /** What was charged, in each unit. */
  readonly amounts: Readonly<Record<AllowanceUnit, number>>;
  /** When it counts. */
  readonly at: number;
}

const MILLION = 1_000_000;

/**
 * Notes a charge in its transaction. Concurrent charges do not see each other, so the delivery loop checks after the commit
 * if they reached the limit together.
 */
export async function noteCharge(tx: Tx, outbox: Pick<EventOutbox, 'record'>, charge: MemberCharge): Promise<void> {
  const { id, integrationId, consumerId, amounts, at } = charge;
  await outbox.record(tx, integrationId, ['member.allowance_exhausted'], async () => {
    const limit = await first(tx.all(memberLimit, { integrationId, consumerId }));
    const { unit = null, period = null, limit_amount: amount = null } = limit ?? {};
    if (unit === null || period === null || amount === null || amounts[unit] <= 0) return [];
    // A charge of a period that has passed uses up nothing of this one.
    if (periodFirstDay(period, at) !== periodFirstDay(period, Date.now())) return [];
    await tx.run(insertCheck, {
      check_id: id,
      integration_id: integrationId,
      consumer_id: consumerId,
      amount_millionths: Math.min(Math.round(amounts[unit] * MILLION), Number.MAX_SAFE_INTEGER),
      limit_amount: Number(amount),
    });
    return [];
  });
}
