import type { LatencySummary } from '@runwire/client';
import type { CliCommand, Context } from '../command.ts';
import { connectToIntegration, type IntegrationOptions } from '../connection.ts';
import { note, printJson, printTable } from '../output.ts';
import { timeOption } from '../request-options.ts';

interface LatencyOptions extends IntegrationOptions {
  readonly agent?: string;
  readonly model?: string;
  readonly from?: string;
  readonly to?: string;
  readonly json?: true;
}

type Day = LatencySummary['items'][number];

export function addLatencyCommand(program: CliCommand, { env }: Context): void {
  program
    .command('latency')
    .explain({
      summary: 'show how long runs took by day',
      details: [
        'Times are in milliseconds, from admission to the first output by a model, and to the end.',
        'p50 is the median, p95 the 95th percentile. Only completed runs count.',
      ],
      examples: ['runwire latency', 'runwire latency --agent Concierge --from 2026-11-01'],
    })
    .option('--agent <NAME>', 'only runs that were started at this agent')
    .option('--model <MODEL>', 'only runs that used this model, as provider/model')
    .option('--from <DATE>', 'the first day, or the exact time; default: 29 days ago')
    .option('--to <DATE>', 'the day or time at which it ends, not included')
    .printsJson('print the days as a JSON array')
    .asksIntegration()
    .action(async (options: LatencyOptions) => {
      const { agent, model, json } = options;
      const [from, to] = [timeOption('--from', options.from), timeOption('--to', options.to)];
      const client = await connectToIntegration(env, options);
      const { items } = await client.usage.latency({ agent, model, from, to });
      if (json) return printJson(items);
      if (items.length === 0) return note('No run was completed in this time.');
      printTable(items, [
        { title: 'day', value: ({ day, sampled }: Day) => (sampled ? `${day} (sample)` : day) },
        { title: 'runs', value: ({ runs }) => runs },
        { title: 'first p50', value: ({ firstTokenMs }) => firstTokenMs?.p50 },
        { title: 'first p95', value: ({ firstTokenMs }) => firstTokenMs?.p95 },
        { title: 'end p50', value: ({ durationMs }) => durationMs.p50 },
        { title: 'end p95', value: ({ durationMs }) => durationMs.p95 },
      ]);
    });
}
