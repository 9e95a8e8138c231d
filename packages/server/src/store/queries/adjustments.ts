import type { Kysely } from 'kysely';
import type { AllowanceUnit } from '../../domain/allowance.ts';
import type { Schema } from '../schema.ts';
import { statement } from '../statement.ts';
import { type Page, pageOf } from './page.ts';

export const adjustmentByKey = statement(
  'adjustment by key',
  (db, p: { integrationId: string; consumerId: string; idempotencyKeyJson: string }) =>
    db
      .selectFrom('adjustments')
      .selectAll()
      .where('integration_id', '=', p.integrationId)
      .where('consumer_id', '=', p.consumerId)
      .where('idempotency_key_json', '=', p.idempotencyKeyJson),
);

export type AdjustmentRow = Awaited<ReturnType<ReturnType<(typeof adjustmentByKey)['build']>['execute']>>[number];

export const insertAdjustment = statement(
  'insert adjustment',
  (
    db,
    p: {
      adjustmentId: string;
      integrationId: string;
      consumerId: string;
      idempotencyKeyJson: string;
      unit: AllowanceUnit;
      amountJson: string;
      appliedJson: string;
      reasonJson: string;
      periodStart: number | null;
      now: number;
    },
  ) =>
    db.insertInto('adjustments').values({
      adjustment_id: p.adjustmentId,
      integration_id: p.integrationId,
      consumer_id: p.consumerId,
      idempotency_key_json: p.idempotencyKeyJson,
      unit: p.unit,
      amount_json: p.amountJson,
      applied_json: p.appliedJson,
      reason_json: p.reasonJson,
      period_start: p.periodStart,
      created_at: p.now,
    }),
);

export interface AdjustmentFilter extends Page {
  readonly integrationId: string;
  readonly consumerId?: string | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

export const listAdjustments = (filter: AdjustmentFilter) => (db: Kysely<Schema>) => {
  let query = db.selectFrom('adjustments').selectAll().where('integration_id', '=', filter.integrationId);
  if (filter.consumerId !== undefined) query = query.where('consumer_id', '=', filter.consumerId);
  if (filter.fromMs !== undefined) query = query.where('created_at', '>=', filter.fromMs);
  if (filter.toMs !== undefined) query = query.where('created_at', '<', filter.toMs);
  return pageOf(query, filter, 'created_at', 'adjustment_id');
};
