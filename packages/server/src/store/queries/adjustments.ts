import type { Kysely } from 'kysely';
import type { IntegrationId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { insertInto, type RowOf, statement } from '../statement.ts';
import { getPage, type Page } from './page.ts';

export const adjustmentByKey = statement(
  'adjustment by key',
  (db, p: { integrationId: IntegrationId; consumerId: string; idempotencyKeyJson: string }) =>
    db
      .selectFrom('adjustments')
      .selectAll()
      .where('integration_id', '=', p.integrationId)
      .where('consumer_id', '=', p.consumerId)
      .where('idempotency_key_json', '=', p.idempotencyKeyJson),
);

export type AdjustmentRow = RowOf<typeof adjustmentByKey>;

export const insertAdjustment = insertInto('adjustments', [
  'adjustment_id',
  'integration_id',
  'consumer_id',
  'idempotency_key_json',
  'unit',
  'amount_json',
  'applied_json',
  'reason_json',
  'period_start',
  'created_at',
]);

export interface AdjustmentFilter extends Page {
  readonly integrationId: IntegrationId;
  readonly consumerId?: string | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

export const listAdjustments = (filter: AdjustmentFilter) => (db: Kysely<Schema>) => {
  let query = db.selectFrom('adjustments').selectAll().where('integration_id', '=', filter.integrationId);
  if (filter.consumerId !== undefined) query = query.where('consumer_id', '=', filter.consumerId);
  if (filter.fromMs !== undefined) query = query.where('created_at', '>=', filter.fromMs);
  if (filter.toMs !== undefined) query = query.where('created_at', '<', filter.toMs);
  return getPage(query, filter, 'created_at', 'adjustment_id');
};
