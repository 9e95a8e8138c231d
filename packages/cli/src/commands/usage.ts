import type { UsageSummary } from '@runwire/client';
import { Option } from 'commander';
import type { CliCommand, Context } from '../command.ts';
import { connectToIntegration, type IntegrationOptions } from '../connection.ts';
import { UsageError } from '../exit-codes.ts';
import { costText, measureWidth, note, print, printJson, printTable, visible } from '../output.ts';
import { plot } from '../plot.ts';
import { timeOption } from '../request-options.ts';

type Group = UsageSummary['items'][number];
type Unit = keyof typeof UNITS;

interface UsageOptions extends IntegrationOptions {
  readonly by: keyof typeof GROUPINGS;
  readonly member?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly from?: string;
  readonly to?: string;
  readonly csv?: true;
  readonly plot?: true;
  readonly unit: Unit;
  readonly json?: true;
}

const GROUPINGS = { hour: 'hour', day: 'day', member: 'consumer', agent: 'agent', model: 'model' } as const;
const UNITS = {
  runs: ({ runs }: Group) => runs,
  tokens: ({ usage }: Group) => usage.total_tokens,
  credits: ({ charged }: Group) => charged.credits,
  cost: ({ cost }: Group) => cost?.amount ?? 0,
} as const;
const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const PLOT_WIDTH = 80;

export function addUsageCommand(program: CliCommand, { env }: Context): void {
  program
    .command('usage')
    .explain({
      summary: 'show what runs used: a table, CSV or a plot',
      details: [`Without --from it shows the last ${DEFAULT_DAYS} days. Days are in UTC.`],
      examples: [
        'runwire usage',
        'runwire usage --by member --from 2026-11-01 --csv > november.csv',
        'runwire usage --plot --unit tokens --agent Concierge',
      ],
    })
    .addOption(
      new Option('--by <GROUP>', 'hour, day, member, agent or model; default: day')
        .choices(Object.keys(GROUPINGS))
        .default('day'),
    )
    .option('--member <ID>', 'only runs of this member')
    .option('--agent <NAME>', 'only runs that were started at this agent')
    .option('--model <MODEL>', 'only what this model used, as provider/model')
    .option('--from <DATE>', 'the first day, or the exact time')
    .option('--to <DATE>', 'the day or time at which it ends, not included')
    .option('--csv', 'print CSV')
    .option('--plot', 'print bars')
    .addOption(
      new Option('--unit <UNIT>', 'what the bars show: runs, tokens, credits or cost; default: runs')
        .choices(Object.keys(UNITS))
        .default('runs'),
    )
    .printsJson('print the groups as a JSON array')
    .asksIntegration()
    .action(async (options: UsageOptions) => {
      const { by, member, agent, model, csv, plot: isPlot, json } = options;
      if ([csv, isPlot, json].filter(Boolean).length > 1) throw new UsageError('Use one of --csv, --plot and --json.');
      const from = timeOption('--from', options.from) ?? startOfDay(Date.now() - (DEFAULT_DAYS - 1) * DAY_MS);
      const to = timeOption('--to', options.to);
      const client = await connectToIntegration(env, options);
      const filters = {
        consumerId: member,
        agent,
        model,
        to,
      };
      const groups = await Array.fromAsync(client.usage.summary({ groupBy: GROUPINGS[by], from, ...filters }));
      if (json) return printJson(groups);
      if (csv) return printCsv(by, groups);
      if (groups.length === 0) return note(`No run was admitted since ${from.slice(0, 10)}.`);
      const shown = by === 'day' ? everyDay(groups) : groups;
      if (isPlot) printPlot(shown, options.unit);
      else printGroups(by, shown);
    });
}

const startOfDay = (ms: number) => `${new Date(ms).toISOString().slice(0, 10)}T00:00:00.000Z`;

/** The days in order, from the first with a run to the last, with the days between them on which nothing ran. */
function everyDay(groups: readonly Group[]): Group[] {
  const known = new Map(groups.flatMap((group) => (group.key === null ? [] : [[group.key, group] as const])));
  const keys = [...known.keys()].toSorted();
  const days: Group[] = [];
  for (let ms = Date.parse(keys.at(0) ?? ''); ms <= Date.parse(keys.at(-1) ?? ''); ms += DAY_MS) {
    const day = new Date(ms).toISOString().slice(0, 10);
    days.push(known.get(day) ?? emptyGroup(day));
  }
  return days;
}

const emptyGroup = (key: string): Group => ({
  key,
  runs: 0,
  usage: {
    ...{ request_count: 0, input_tokens: 0, cached_tokens: 0, output_tokens: 0, reasoning_tokens: 0, total_tokens: 0 },
  },
  charged: { runs: 0, tokens: 0, credits: 0 },
  ...{ failed: 0, cancelled: 0, cost: null, durationMs: null, firstTokenMs: null },
});

const COST_COLUMN = { title: 'cost', value: ({ cost }: Group) => costText(cost) };

function printGroups(by: string, groups: readonly Group[]): void {
  printTable(groups, [
    { title: by, value: ({ key }) => key, canShrink: true },
    { title: 'runs', value: ({ runs }) => runs },
    { title: 'failed', value: ({ failed }) => failed },
    { title: 'calls', value: ({ usage }) => usage.request_count },
    { title: 'input', value: ({ usage }) => usage.input_tokens },
    { title: 'cached', value: ({ usage }) => usage.cached_tokens },
    { title: 'output', value: ({ usage }) => usage.output_tokens },
    { title: 'total', value: ({ usage }) => usage.total_tokens },
    { title: 'credits', value: ({ charged }) => charged.credits },
    ...(groups.some(({ cost }) => cost !== null) ? [COST_COLUMN] : []),
  ]);
}

function printPlot(groups: readonly Group[], unit: Unit): void {
  const width = Math.min(measureWidth(process.stdout), PLOT_WIDTH);
  const bars = groups.map((group) => ({ label: group.key ?? '(no member)', value: UNITS[unit](group) }));
  for (const line of plot(bars, width)) print(line);
}

/** RFC 4180. */
function printCsv(by: string, groups: readonly Group[]): void {
  const columns = [
    'runs',
    'modelCalls',
    'inputTokens',
    'cachedTokens',
    'outputTokens',
    'reasoningTokens',
    'totalTokens',
  ];
  const charges = ['chargedRuns', 'chargedTokens', 'chargedCredits'];
  const measures = ['failed', 'cancelled', 'cost', 'currency', 'durationMsP50', 'durationMsP95'];
  const firstTokens = ['firstTokenMsP50', 'firstTokenMsP95'];
  const rows = groups.map(({ key, runs, usage, charged, cost, ...group }) => [
    ...[key ?? '', runs, usage.request_count, usage.input_tokens, usage.cached_tokens, usage.output_tokens],
    ...[usage.reasoning_tokens, usage.total_tokens, charged.runs, charged.tokens, charged.credits],
    ...[group.failed, group.cancelled, cost?.amount ?? '', cost?.currency ?? ''],
    ...[group.durationMs, group.firstTokenMs].flatMap((times) => [times?.p50 ?? '', times?.p95 ?? '']),
  ]);
  for (const row of [[by, ...columns, ...charges, ...measures, ...firstTokens], ...rows]) {
    process.stdout.write(
      `${row.map((value) => csvField(process.stdout.isTTY ? visible(String(value)) : String(value))).join(',')}\r\n`,
    );
  }
}

const csvField = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
