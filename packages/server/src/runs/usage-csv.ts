import type { TakeTurn } from '@runwire/lib/page-turns.ts';
import type { adjustmentJson } from '../accounts/adjustment-json.ts';
import { encodeCsvRow } from '../domain/csv.ts';
import type { IntegrationId } from '../domain/ids.ts';
import type { ListPosition } from '../domain/list-cursor.ts';
import type { RunReads } from './read-runs.ts';
import { type UsageQuery, usageJson, usagePosition } from './usage-rows.ts';

/** How many records are in memory at a time, and are read and encoded in one turn of the event loop: about 3 ms. */
const PAGE_RECORDS = 100;

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

/**
 * Yields the matching records as CSV rows, newest first, page by page. Each page waits for its owner's turn. The
 * column `byModel` contains JSON.
 */
export async function* usageCsv(
  runReads: RunReads,
  takeTurn: TakeTurn,
  integrationId: IntegrationId,
  query: UsageQuery,
  pageRecords: number = PAGE_RECORDS,
): AsyncGenerator<string> {
  let text = encodeCsvRow(HEADER);
  let before: ListPosition | null = null;
  do {
    {
      using _turn = await takeTurn();
      const rows = await runReads.usageRows(integrationId, query, { before, limit: pageRecords });
      for (const row of rows) text += encodeCsvRow(fields(usageJson(row)));
      const last = rows.at(-1);
      before = last === undefined || rows.length < pageRecords ? null : usagePosition(last);
    }
    // The reader may be slow, so the turn is over here.
    yield text;
    text = '';
  } while (before !== null);
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
