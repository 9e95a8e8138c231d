import { type RawBuilder, sql } from 'kysely';
import { type AllowancePeriod, type AllowanceUnit, periodFirstDay } from '../../domain/admission/allowance.ts';
import type { IntegrationId } from '../../domain/ids.ts';
import { statement } from '../statement.ts';
import { DAY_ORDER } from './locks.ts';
import { raw } from './raw.ts';

/** The first day of every kind of period, so that one statement serves all integrations. */
export interface PeriodDays {
  readonly dayFirst: number;
  readonly weekFirst: number;
  readonly monthFirst: number;
}

export function periodDays(nowMs: number): PeriodDays {
  return {
    dayFirst: periodFirstDay('day', nowMs),
    weekFirst: periodFirstDay('week', nowMs),
    monthFirst: periodFirstDay('month', nowMs),
  };
}

function firstDay(p: PeriodDays): RawBuilder<number> {
  return sql<number>`case i.allowance_period
    when 'day' then ${p.dayFirst} when 'week' then ${p.weekFirst} when 'month' then ${p.monthFirst} else 0 end`;
}

/**
 * Sums up the member's usage by day. `i` is the integration. `usedAmount` makes what callers see of the sum: in credits it is
 * a floating-point number.
 */
export function usedSum(consumer: RawBuilder<unknown>, p: PeriodDays): RawBuilder<number> {
  return sql<number>`(select coalesce(sum(case i.allowance_unit
      when 'runs' then d.runs when 'tokens' then d.tokens else d.credits + cast(d.credit_millionths as double precision) / 1000000 end), 0)
    from usage_days d
    where d.integration_id = i.integration_id and d.consumer_id = ${consumer} and d.day >= ${firstDay(p)})`;
}

/** Sums up what the member's unfinished runs reserve. It is never stored, so a reservation cannot outlive its run. */
export function reservedSum(consumer: RawBuilder<unknown>, p: PeriodDays): RawBuilder<number> {
  return sql<number>`(select coalesce(sum(h.held), 0) from active_runs h
    where h.integration_id = i.integration_id and h.consumer_id = ${consumer} and h.unit = i.allowance_unit and h.day >= ${firstDay(p)})`;
}

export interface MemberAllowanceRow {
  /** The template of the folder of a member. */
  member_folder: string;
  allowance_unit: AllowanceUnit | null;
  allowance_limit: number | null;
  allowance_period: AllowancePeriod | null;
  used: number;
  reserved: number;
}

export const memberAllowance = statement(
  'member allowance',
  (db, p: PeriodDays & { integrationId: IntegrationId; consumerId: string }) =>
    raw<MemberAllowanceRow>(
      db,
      sql<MemberAllowanceRow>`select i.allowance_unit, i.allowance_limit, i.allowance_period, i.member_folder,
          ${usedSum(sql`${p.consumerId}`, p)} as used, ${reservedSum(sql`${p.consumerId}`, p)} as reserved
        from integrations i where i.integration_id = ${p.integrationId}`,
    ),
);

const usageDayKey = (p: { integrationId: IntegrationId; consumerId: string; day: number }) =>
  JSON.stringify([p.integrationId, p.consumerId, p.day]);

export const raiseUsageDay = statement(
  'raise usage day',
  (
    db,
    p: {
      integrationId: IntegrationId;
      consumerId: string;
      day: number;
      runs: number;
      tokens: number;
      credits: number;
      creditMillionths: number;
    },
  ) =>
    db
      .insertInto('usage_days')
      .values({
        integration_id: p.integrationId,
        consumer_id: p.consumerId,
        day: p.day,
        runs: p.runs,
        tokens: p.tokens,
        credits: p.credits,
        credit_millionths: p.creditMillionths,
      })
      .onConflict((c) =>
        c.columns(['integration_id', 'consumer_id', 'day']).doUpdateSet((eb) => ({
          runs: eb('usage_days.runs', '+', eb.ref('excluded.runs')),
          tokens: eb('usage_days.tokens', '+', eb.ref('excluded.tokens')),
          credits: eb('usage_days.credits', '+', eb.ref('excluded.credits')),
          credit_millionths: eb('usage_days.credit_millionths', '+', eb.ref('excluded.credit_millionths')),
        })),
      ),
  {
    last: usageDayKey,
    gathers: {
      order: DAY_ORDER,
      types: {
        day: 'bigint',
        runs: 'bigint',
        tokens: 'bigint',
        credits: 'bigint',
        creditMillionths: 'bigint',
      },
      key: usageDayKey,
    },
  },
);
