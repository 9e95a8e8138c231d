import type { TakeTurn } from '@runwire/lib/page-turns.ts';
import type { adjustmentJson } from '../accounts/adjustment-json.ts';
import type { IntegrationId } from '../domain/ids.ts';
import type { Page } from '../store/queries/page.ts';
import { readCsv } from '../store/read-csv.ts';
import type { RunReads } from './read-runs.ts';
import { type UsageQuery, type UsageRow, usageJson, usagePosition } from './usage-rows.ts';

const HEADER = [
  'usageRequestId',
  'consumerId',
  'chatId',
  'runId',
  'agent',
  'status',
  'request_count',
  'input_tokens',
  'cached_tokens',
  'output_tokens',
  'reasoning_tokens',
  'total_tokens',
  'byModel',
  'chargedUnit',
  'chargedAmount',
  'periodStart',
  'startedAt',
  'completedAt',
  // After the run columns, so that programs that read columns by number still work.
  'kind',
  'adjustmentId',
  'unit',
  'amount',
  'applied',
  'reason',
  'idempotencyKey',
  'createdAt',
  'firstTokenMs',
  'cost',
  'currency',
  'rerun',
];

/** Yields the matching records as CSV, newest first. The column `byModel` contains JSON. */
export function usageCsv(
  runReads: RunReads,
  takeTurn: TakeTurn,
  integrationId: IntegrationId,
  query: UsageQuery,
  pageRecords?: number,
): AsyncGenerator<string> {
  const list = {
    header: HEADER,
    rows: (page: Page) => runReads.usageRows(integrationId, query, page),
    fields: (row: UsageRow) => fields(usageJson(row)),
    position: usagePosition,
  };
  return readCsv(takeTurn, list, pageRecords);
}

type Field = string | number | null;

const emptyFields = (count: number): Field[] => new Array<Field>(count).fill(null);

function fields(record: ReturnType<typeof usageJson>): Field[] {
  if (record.kind === 'adjustment') return adjustmentFields(record);
  const { usage, charged } = record;
  return [
    record.usageRequestId,
    record.consumerId,
    record.chatId,
    record.runId,
    record.agent,
    record.status,
    usage.request_count,
    usage.input_tokens,
    usage.cached_tokens,
    usage.output_tokens,
    usage.reasoning_tokens,
    usage.total_tokens,
    JSON.stringify(record.byModel),
    charged?.unit ?? null,
    charged?.amount ?? null,
    record.periodStart,
    record.startedAt,
    record.completedAt,
    record.kind,
    ...emptyFields(7),
    record.firstTokenMs,
    record.cost?.amount ?? null,
    record.cost?.currency ?? null,
    String(record.rerun),
  ];
}

/** The run columns are empty, except the member and the period. */
function adjustmentFields(record: ReturnType<typeof adjustmentJson>): Field[] {
  return [
    null,
    record.consumerId,
    ...emptyFields(13),
    record.periodStart,
    ...emptyFields(2),
    record.kind,
    record.adjustmentId,
    record.unit,
    record.amount,
    record.applied,
    record.reason,
    record.idempotencyKey,
    record.createdAt,
    ...emptyFields(4),
  ];
}
