import type { Overview } from '@runwire/client';
import { type CliCommand, type Context, wholeNumber } from '../command.ts';
import { type ConnectionOptions, connect } from '../connection.ts';
import { costText, type Fields, print, printFields, printJson, printTable } from '../output.ts';

interface OverviewOptions extends ConnectionOptions {
  readonly integration?: string;
  readonly hours: number;
  readonly json?: true;
}

type Percentiles = Overview['measures']['durationMs'];

export function addOverviewCommand(program: CliCommand, { env }: Context): void {
  program
    .command('overview')
    .explain({
      summary: 'show the last hours, and what needs a person',
      details: [
        'Over all integrations, or over one with --integration. The column "before" has as many hours before.',
        'Times are p50 and p95 in milliseconds.',
      ],
      examples: ['runwire overview', 'runwire overview --integration shop --hours 168'],
    })
    .option('-i, --integration <ID>', 'only this integration; default: all')
    .option('--hours <N>', 'how many hours, 1 to 168; default: 24', wholeNumber, 24)
    .printsJson('print the overview as JSON')
    .asksServer()
    .action(async ({ integration, hours, json, ...options }: OverviewOptions) => {
      const client = await connect(env, options);
      const found = await client.overview.get({ integration, hours });
      if (json) return printJson(found);
      printMeasures(found);
      print('');
      printFields(needs(found));
      if (found.failures.length === 0) return;
      print('');
      printTable(found.failures, [
        { title: 'runs', value: ({ count }) => count },
        { title: 'code', value: ({ code }) => code },
        { title: 'newest', value: ({ runId }) => runId },
        { title: 'error', value: ({ error }) => error, canShrink: true },
      ]);
    });
}

const times = (found: Percentiles) => (found === null ? null : `${found.p50} / ${found.p95}`);

const ROWS: readonly (readonly [string, (measures: Overview['measures']) => number | string | null])[] = [
  ['runs', ({ runs }) => runs],
  ['failed', ({ failed }) => failed],
  ['cancelled', ({ cancelled }) => cancelled],
  ['tokens', ({ tokens }) => tokens],
  ['cost', ({ cost }) => costText(cost)],
  ['duration', ({ durationMs }) => times(durationMs)],
  ['first output', ({ firstTokenMs }) => times(firstTokenMs)],
];

function printMeasures({ measures, before }: Overview): void {
  printTable(ROWS, [
    { title: 'measure', value: ([title]) => title },
    { title: 'now', value: ([, read]) => read(measures) },
    { title: 'before', value: ([, read]) => read(before) },
  ]);
}

const listed = (texts: readonly string[]) => texts.join(', ');

const needs = (found: Overview): Fields => ({
  'active runs': found.activeRuns,
  'open questions': found.openQuestions,
  'broken agencies': listed(found.brokenAgencies.map(({ agency }) => agency)),
  'failed MCP servers': listed(found.failedMcpServers.map(({ agency, server }) => `${agency}/${server}`)),
  'exhausted members': listed(found.exhaustedMembers.map((one) => `${one.apiIntegrationId}/${one.consumerId}`)),
  'expiring keys': listed(found.expiringKeys.map(({ name, expiresAt }) => `${name} (${expiresAt.slice(0, 10)})`)),
  'disabled webhooks': listed(found.disabledWebhooks.map((one) => `${one.apiIntegrationId}/${one.endpointId}`)),
});
