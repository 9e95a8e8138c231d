import { iso } from '../domain/time.ts';
import type { AdjustmentRow } from '../store/queries/adjustments.ts';

export function adjustmentJson(row: AdjustmentRow) {
  return {
    kind: 'adjustment' as const,
    adjustmentId: row.adjustment_id,
    consumerId: row.consumer_id,
    unit: row.unit,
    amount: JSON.parse(row.amount_json) as number,
    applied: JSON.parse(row.applied_json) as number,
    reason: row.reason_json === null ? null : (JSON.parse(row.reason_json) as string),
    idempotencyKey: JSON.parse(row.idempotency_key_json) as string,
    periodStart: iso(row.period_start),
    createdAt: iso(row.created_at),
  };
}
