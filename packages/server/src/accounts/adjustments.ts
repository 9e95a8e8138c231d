import type { Audit } from '../audit/audit.ts';
import type { AdjustmentInput } from '../domain/account/account-inputs.ts';
import {
  type AllowanceUnit,
  appliedAmount,
  MAX_AMOUNT,
  periodStartMs,
  toDay,
  usedAmount,
} from '../domain/admission/allowance.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { newId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { integrationById, memberState } from '../store/queries/accounts.ts';
import {
  type AdjustmentRow,
  adjustmentByKey,
  insertAdjustment,
  listAdjustments,
} from '../store/queries/adjustments.ts';
import { memberAllowance, periodDays, raiseUsageDay } from '../store/queries/allowance.ts';
import { keepIntegration, lockMember } from '../store/queries/locks.ts';
import { type ListQuery, readPage } from '../store/read-page.ts';
import { first, type Store, type Tx } from '../store/store.ts';
import type { EventOutbox } from '../webhooks/event-outbox.ts';
import { noteCharge } from '../webhooks/note-charge.ts';
import { adjustmentJson } from './adjustment-json.ts';

const NO_MEMBER = 'This integration has no member with this `consumerId`.';
const DECIMALS = 6;

/** Corrections of what members used. They are part of the sums by day that admission reads. */
export class Adjustments {
  readonly #store: Store;
  readonly #outbox: EventOutbox;

  constructor(store: Store, outbox: EventOutbox) {
    this.#store = store;
    this.#outbox = outbox;
  }

  /** Makes the adjustment, or returns the stored adjustment with this key. */
  async create(integrationId: IntegrationId, consumerId: string, input: AdjustmentInput, audit: Audit) {
    const problem = amountProblem(input);
    if (problem !== null) throw new Refusal('invalid_request', problem);
    const outbox = this.#outbox;
    const made = await this.#store.transact('account', async (tx) => {
      // With the member's lock, adjustments of a member run one after the other. A run's end does not take this lock,
      // but it only raises `used`, so what is given back never exceeds it.
      const [, , integration, member, known] = await Promise.all([
        tx.all(keepIntegration, { integrationId }),
        tx.all(lockMember, { integrationId, consumerId }),
        first(tx.all(integrationById, { integrationId })),
        first(tx.all(memberState, { integrationId, consumerId })),
        first(
          tx.all(adjustmentByKey, {
            integrationId,
            consumerId,
            idempotencyKeyJson: JSON.stringify(input.idempotencyKey),
          }),
        ),
      ]);
      if (integration === undefined) throw new Refusal('integration_not_found');
      if (member === undefined) throw new Refusal('member_not_found', NO_MEMBER);
      // Before the allowance's checks: a repeat succeeds also if allowances were changed after the first request.
      if (known === undefined) {
        const adjustment = await adjust(tx, outbox, integrationId, consumerId, input);
        const { adjustmentId, unit, amount, applied, reason } = adjustment;
        const after = { adjustmentId, unit, amount, applied, reason };
        await audit(tx, { target: ['member', consumerId], integrationId, consumerId, after });
        return { created: true, adjustment };
      }
      if (!isRepeat(known, input)) throw new Refusal('idempotency_key_reused');
      return { created: false, adjustment: adjustmentJson(known) };
    });
    outbox.committed(integrationId);
    return made;
  }

  async list(integrationId: IntegrationId, consumerId: string, query: ListQuery) {
    const { reads } = this.#store;
    const member = await first(reads.all(memberState, { integrationId, consumerId }));
    if (member === undefined) throw new Refusal('member_not_found', NO_MEMBER);
    return readPage(
      reads,
      query,
      (page) => listAdjustments({ integrationId, consumerId, ...page }),
      (row) => ({ createdAt: row.created_at, id: row.adjustment_id }),
      adjustmentJson,
    );
  }
}

async function adjust(
  tx: Tx,
  outbox: EventOutbox,
  integrationId: IntegrationId,
  consumerId: string,
  input: AdjustmentInput,
) {
  const now = Date.now();
  const allowance = await first(tx.all(memberAllowance, { integrationId, consumerId, ...periodDays(now) }));
  const { allowance_unit: unit = null, allowance_period: period = null } = allowance ?? {};
  if (unit === null || period === null) throw new Refusal('allowances_disabled');
  if (input.unit !== unit) {
    throw new Refusal('invalid_request', `\`unit\` must be \`${unit}\`, the unit of the integration's allowance.`);
  }
  const used = usedAmount(allowance?.used ?? 0);
  const applied = appliedAmount(input.amount, used);
  if (used - applied > MAX_AMOUNT) {
    throw new Refusal('invalid_request', `\`amount\` would raise what the member has used above ${MAX_AMOUNT}.`);
  }
  const row: AdjustmentRow = {
    adjustment_id: newId('adj'),
    integration_id: integrationId,
    consumer_id: consumerId,
    idempotency_key_json: JSON.stringify(input.idempotencyKey),
    unit,
    amount_json: JSON.stringify(input.amount),
    applied_json: JSON.stringify(applied),
    reason_json: JSON.stringify(input.reason),
    period_start: periodStartMs(period, now),
    created_at: now,
  };
  await Promise.all([
    tx.run(insertAdjustment, row),
    tx.run(raiseUsageDay, { integrationId, consumerId, day: toDay(now), ...usageChange(unit, applied) }),
  ]);
  if (outbox.mayWant(integrationId)) {
    const amounts = { runs: 0, tokens: 0, credits: 0, [unit]: 0 - applied };
    await noteCharge(tx, outbox, { id: row.adjustment_id, integrationId, consumerId, amounts, at: now });
  }
  return adjustmentJson(row);
}

/** What the adjustment adds to the sums of the day. Fractions of a credit have their own column. */
function usageChange(unit: AllowanceUnit, applied: number) {
  const none = { runs: 0, tokens: 0, credits: 0, creditMillionths: 0 };
  const whole = Math.trunc(applied);
  // A subtraction from 0, because the minus sign would make -0.
  if (unit !== 'credits') return { ...none, [unit]: 0 - whole };
  return { ...none, credits: 0 - whole, creditMillionths: 0 - Math.round((applied - whole) * 1_000_000) };
}

/** Returns a sentence for the caller, or null if the amount is valid in its unit. */
function amountProblem({ amount, unit }: AdjustmentInput): string | null {
  if (amount === 0) return '`amount` must not be 0.';
  if (unit !== 'credits') return Number.isInteger(amount) ? null : `\`amount\` must be an integer in ${unit}.`;
  return Number(amount.toFixed(DECIMALS)) === amount
    ? null
    : `\`amount\` must have at most ${DECIMALS} decimals in credits.`;
}

function isRepeat(row: AdjustmentRow, { amount, unit, reason }: AdjustmentInput): boolean {
  return row.unit === unit && row.amount_json === JSON.stringify(amount) && row.reason_json === JSON.stringify(reason);
}
