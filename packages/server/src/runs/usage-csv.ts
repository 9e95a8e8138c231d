import { encodeCsvRow } from './csv.ts';
import { position, type RunReads, type UsageQuery } from './read-runs.ts';
import { usageRecordJson } from './run-json.ts';

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
    for (const row of rows) text += encodeCsvRow(fields(usageRecordJson(row)));
    yield text;
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRecords) return;
    rows = await runReads.usageRows(integrationId, query, { before: position(last), limit: pageRecords });
    text = '';
  }
}

function fields(record: ReturnType<typeof usageRecordJson>): (string | number | null)[] {
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
  ];
}
