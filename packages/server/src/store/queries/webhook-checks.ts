import { sql } from 'kysely';
import type { AllowancePeriod, AllowanceUnit } from '../../domain/admission/allowance.ts';
import type { IntegrationId } from '../../domain/ids.ts';
import { insertInto, statement } from '../statement.ts';
import { type PeriodDays, reservedSum, usedSum } from './allowance.ts';
import type { Person } from './erasures.ts';
import { raw } from './raw.ts';

export const insertCheck = insertInto('webhook_checks', [
  'check_id',
  'integration_id',
  'consumer_id',
  'amount_millionths',
  'limit_amount',
]);

export interface MemberLimitRow {
  unit: AllowanceUnit | null;
  period: AllowancePeriod | null;
  limit_amount: number | null;
}

export const memberLimit = statement('member limit', (db, p: { integrationId: IntegrationId; consumerId: string }) =>
  raw<MemberLimitRow>(
    db,
    sql<MemberLimitRow>`select i.allowance_unit as unit, i.allowance_period as period,
          coalesce(m.own_limit, i.allowance_limit) as limit_amount
        from integrations i
        join members m on m.integration_id = i.integration_id and m.consumer_id = ${p.consumerId}
        where i.integration_id = ${p.integrationId}`,
  ),
);

export const membersToCheck = statement('members to check for webhooks', (db, p: { limit: number }) =>
  db.selectFrom('webhook_checks').select(['integration_id', 'consumer_id']).distinct().limit(p.limit),
);

export interface CheckRow extends MemberLimitRow {
  check_id: string;
  amount_millionths: number;
  check_limit: number;
  used: number;
  reserved: number;
}

/** The charges of a member and what it has used, in one snapshot. */
export const checksOfMember = statement('webhook checks of member', (db, p: PeriodDays & Person) =>
  raw<CheckRow>(
    db,
    sql<CheckRow>`select c.check_id, c.amount_millionths, c.limit_amount as check_limit, i.allowance_unit as unit,
        i.allowance_period as period, coalesce(m.own_limit, i.allowance_limit) as limit_amount,
        ${usedSum(sql`${p.consumerId}`, p)} as used, ${reservedSum(sql`${p.consumerId}`, p)} as reserved
      from webhook_checks c
      join integrations i on i.integration_id = c.integration_id
      left join members m on m.integration_id = c.integration_id and m.consumer_id = c.consumer_id
      where c.integration_id = ${p.integrationId} and c.consumer_id = ${p.consumerId}`,
  ),
);

export const deleteCheck = statement('delete webhook check', (db, p: { checkId: string }) =>
  db.deleteFrom('webhook_checks').where('check_id', '=', p.checkId),
);

export const deletePersonsChecks = statement('delete webhook checks of person', (db, p: Person) =>
  db.deleteFrom('webhook_checks').where('integration_id', '=', p.integrationId).where('consumer_id', '=', p.consumerId),
);
