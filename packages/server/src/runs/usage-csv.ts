import type { adjustmentJson } from '../accounts/adjustment-json.ts';
import { encodeCsvRow } from './csv.ts';
import type { RunReads } from './read-runs.ts';
import { type UsageQuery, usageJson, usagePosition } from './usage-rows.ts';

/** How many records are in memory at a time. */
const PAGE_RECORDS = 200;

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
  // After the columns of runs, so that programs that read columns by number still work.
  'kind',
  'adjustmentId',
  'unit',
  'amount',
  'applied',
  'reason',
  'idempotencyKey',
  'createdAt',
];

/** Yields the matching records as CSV rows, newest first, page by page. The column `byModel` contains JSON. */
export async function* usageCsv(
  runReads: RunReads,
  integrationId: string,
  query: UsageQuery,
  pageRecords: number = PAGE_RECORDS,
): AsyncGenerator<string> {
  let rows = await runReads.usageRows(integrationId, query, { before: null, limit: pageRecords });
  let text = encodeCsvRow(HEADER);
  for (;;) {
    for (const row of rows) text += encodeCsvRow(fields(usageJson(row)));
    yield text;
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRecords) return;
    rows = await runReads.usageRows(integrationId, query, { before: usagePosition(last), limit: pageRecords });
    text = '';
  }
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
  ];
}

/** The columns of runs are empty, except the member and the period. */
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
  ];
}
