import { pipeline } from 'node:stream/promises';
import type { UsageRecord } from '@runwire/client';
import { type CliCommand, type Context, wholeNumber } from '../command.ts';
import { connectToIntegration, type IntegrationOptions } from '../connection.ts';
import { UsageError } from '../exit-codes.ts';
import { costText, type ListOptions, printList, time } from '../output.ts';
import { timeOption } from '../request-options.ts';

interface RecordsOptions extends ListOptions, IntegrationOptions {
  readonly member?: string;
  readonly request?: string;
  readonly from?: string;
  readonly to?: string;
  readonly csv?: true;
}

export function addRecordsCommand(program: CliCommand, { env }: Context): void {
  program
    .command('records')
    .explain({
      summary: 'list usage records: one for each run and adjustment',
      details: ['`runwire usage` adds them up. --csv prints all of them, whatever --limit is.'],
      examples: ['runwire records --member user-42', 'runwire records --from 2026-11-01 --csv > november.csv'],
    })
    .option('--member <ID>', 'only records of this member')
    .option('--request <ID>', 'only the run of this request')
    .option('--from <DATE>', 'the first day, or the exact time')
    .option('--to <DATE>', 'the day or time at which it ends, not included')
    .option('--csv', 'print CSV')
    .option('--limit <N>', 'at most this many records; default: 50', wholeNumber, 50)
    .printsJson('print the records as a JSON array')
    .asksIntegration()
    .action(async (options: RecordsOptions) => {
      const { member, request, csv, json } = options;
      if (csv && json) throw new UsageError('Use either --csv or --json.');
      const [from, to] = [timeOption('--from', options.from), timeOption('--to', options.to)];
      const client = await connectToIntegration(env, options);
      const filters = {
        consumerId: member,
        usageRequestId: request,
        from,
        to,
      };
      if (csv) {
        const { body } = await client.usage.csv(filters);
        if (body !== null) await pipeline(body, process.stdout, { end: false });
        return;
      }
      await printList(client.usage.list(filters), options, [
        { title: 'record', value: (record) => (record.kind === 'run' ? record.runId : record.adjustmentId) },
        { title: 'time', value: (record) => time(record.kind === 'run' ? record.startedAt : record.createdAt) },
        { title: 'member', value: ({ consumerId }) => consumerId, canShrink: true },
        { title: 'end', value: (record) => (record.kind === 'run' ? record.status : record.kind) },
        { title: 'tokens', value: (record) => (record.kind === 'run' ? record.usage.total_tokens : null) },
        { title: 'charged', value: charge },
        { title: 'cost', value: (record) => (record.kind === 'run' ? costText(record.cost) : null) },
      ]);
    });
}

/** An adjustment gives back what it applies, so it counts with the other sign. */
function charge(record: UsageRecord): string | null {
  if (record.kind === 'adjustment') return `${-record.applied} ${record.unit}`;
  return record.charged === null ? null : `${record.charged.amount} ${record.charged.unit}`;
}
