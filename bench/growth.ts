import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { PostgresServer } from '@runwire/test-kit';
import { type Contestant, load, loadOne, startContestant, startProvider } from './contestants.ts';
import { startDurablePostgres } from './database-meter.ts';
import { writeDocsSection } from './docs-section.ts';
import { fillHistory, type HistorySizes, MILLION } from './history.ts';
import { median, SCENARIOS } from './phases.ts';
import { exactCpuMs, familyCpuMs } from './proc.ts';
import { grid } from './table.ts';

/*
 * Measures what a long past costs: an empty database compared with databases of up to a million runs, on both stores.
 * CPU is that of the server, and on PostgreSQL that of the database too.
 *
 *   npm run bench -- growth [--store sqlite|postgres] [--runs 1000000] [--seconds 4]
 */

const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    store: { type: 'string' },
    runs: { type: 'string', default: String(MILLION.runs) },
    seconds: { type: 'string', default: '4' },
    'update-docs': { type: 'boolean', default: false },
  },
});

const PAST = 'past';
const DAY_MS = 86_400_000;
const REPEATS = 7;
/** The server and its database are settled if they use less than this share of a core for so long. */
const SETTLED_SHARE = 0.05;
const SETTLED_MS = 3_000;
const MAX_SETTLING_MS = 180_000;
/** Bounds for the largest database. The first is a factor on the empty database's figure. */
const MAX_GROWTH = 1.1;
const BOUNDS: Partial<Record<keyof Figures, number>> = {
  'usage/summary of 90 days by day: CPU ms': 50,
  'usage/summary of 90 days by member: CPU ms': 50,
  'usage/summary of 90 days by model: CPU ms': 50,
  'backup: CPU s': 15,
};
const seconds = Number(options.seconds);
const most = Number(options.runs);
/** How many runs each database has had. */
const pasts = [0, 0.01, 0.1, 1].map((share) => Math.round(most * share));
const stores = (['sqlite', 'postgres'] as const).filter((kind) => (options.store ?? kind) === kind);

interface Figures {
  readonly 'work after the start: CPU s': number;
  readonly 'short: CPU ms a run': number;
  readonly 'single: CPU ms a run': number;
  readonly 'usage/summary of 90 days by day: CPU ms': number;
  readonly 'usage/summary of 90 days by member: CPU ms': number;
  readonly 'usage/summary of 90 days by model: CPU ms': number;
  readonly 'first page of runs: CPU ms': number;
  readonly 'first page of members: CPU ms': number;
  readonly 'first page of chats: CPU ms': number;
  readonly 'CSV of a day: CPU ms': number;
  readonly 'CSV of a day: rows': number;
  readonly 'backup: CPU s': number;
}

function historySizes(runs: number): HistorySizes {
  const share = runs / MILLION.runs;
  return {
    ...{ runs, days: MILLION.days },
    ...{ chats: Math.ceil(MILLION.chats * share), members: Math.ceil(MILLION.members * share) },
  };
}

async function send(contestant: Contestant, method: string, path: string, body?: object): Promise<string> {
  const { apiKey, servers } = contestant.order;
  const answer = await fetch(`http://127.0.0.1:${servers[0]?.port}/v2/integrations${path}`, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} was answered by ${answer.status}: ${text}`);
  return text;
}

/** Returns the figures of a database with this many ended runs. */
async function measure(runs: number, postgres: PostgresServer | null, providerPort: number): Promise<Figures> {
  const dataDir = mkdtempSync(join(tmpdir(), 'runwire-bench-growth-'));
  const url = await postgres?.database();
  const start = (apiKey: string | null) =>
    startContestant('ours', {
      ...{ members: 32, providerPort, kept: { dataDir, apiKey } },
      ...(url === undefined ? {} : { postgres: { url, nodes: 1 } }),
    });
  try {
    let apiKey: string | null = null;
    {
      await using server = await start(null);
      apiKey = server.order.apiKey;
      await send(server, 'POST', '', { apiIntegrationId: PAST, agency: 'plain', name: 'Past' });
    }
    const endMs = Date.now();
    if (runs > 0) {
      const database =
        url === undefined
          ? ({ kind: 'sqlite', path: join(dataDir, 'runwire.db') } as const)
          : ({ kind: 'postgres', url } as const);
      await fillHistory(database, { integrationId: PAST, ...historySizes(runs), endMs, counted: true });
      // Otherwise the system writes the new files while runs wait for their own syncs.
      execFileSync('sync');
    }
    await using server = await start(apiKey);
    const cpu = () => exactCpuMs(server.process.pid ?? 0) + (postgres === null ? 0 : familyCpuMs(postgres.pid));
    const workAfterStart = await settle(cpu);
    const { short, single } = SCENARIOS;
    await load(server, [{ ...short, name: 'warm-up', seconds: Math.max(1, seconds / 2) }]);
    // The first page of every kind also compiles its code.
    const request = async (path: string) => {
      await send(server, 'GET', `/${PAST}${path}`);
      const figures: number[] = [];
      for (let i = 0; i < REPEATS; i += 1) {
        const before = cpu();
        await send(server, 'GET', `/${PAST}${path}`);
        figures.push(cpu() - before);
      }
      return median(figures);
    };
    const perRun = async (scenario: typeof short | typeof single, name: string) => {
      const before = cpu();
      const { runs } = await loadOne(server, { ...scenario, name, seconds });
      return (cpu() - before) / runs;
    };
    const backUp = () => {
      const before = postgres === null ? 0 : familyCpuMs(postgres.pid);
      const seconds = backupSeconds(dataDir, url);
      return seconds + (postgres === null ? 0 : (familyCpuMs(postgres.pid) - before) / 1000);
    };
    const from = new Date(endMs - 90 * DAY_MS).toISOString();
    const day = `from=${new Date(endMs - 2 * DAY_MS).toISOString()}&to=${new Date(endMs - DAY_MS).toISOString()}`;
    return {
      'work after the start: CPU s': workAfterStart,
      'short: CPU ms a run': await perRun(short, 'short'),
      'single: CPU ms a run': await perRun(single, 'single'),
      'usage/summary of 90 days by day: CPU ms': await request(`/usage/summary?groupBy=day&from=${from}`),
      'usage/summary of 90 days by member: CPU ms': await request(`/usage/summary?groupBy=consumer&from=${from}`),
      'usage/summary of 90 days by model: CPU ms': await request(`/usage/summary?groupBy=model&from=${from}`),
      'first page of runs: CPU ms': await request('/runs'),
      'first page of members: CPU ms': await request('/members'),
      'first page of chats: CPU ms': await request('/chats?consumerId=member-1'),
      'CSV of a day: CPU ms': await request(`/usage?format=csv&${day}`),
      'CSV of a day: rows': (await send(server, 'GET', `/${PAST}/usage?format=csv&${day}`)).split('\n').length - 2,
      'backup: CPU s': backUp(),
    };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/**
 * Waits until the server and its database are idle, so that work that is done once, such as a sweep over an unvisited past, is
 * not counted as a run's cost. Returns the CPU of that work, in seconds.
 */
async function settle(cpu: () => number): Promise<number> {
  const start = cpu();
  const until = performance.now() + MAX_SETTLING_MS;
  while (performance.now() < until) {
    const before = cpu();
    await sleep(SETTLED_MS);
    if (cpu() - before < SETTLED_MS * SETTLED_SHARE) return (before - start) / 1000;
  }
  throw new Error(`The server and its database were not idle ${MAX_SETTLING_MS / 1000} s after the start.`);
}

/** The CPU of the whole command. The shell reports the times of its children in its second line. */
function backupSeconds(dataDir: string, url: string | undefined): number {
  const env = { ...process.env, RUNWIRE_DATA_DIR: dataDir, DATABASE_URL: url };
  const program = join(import.meta.dirname, '../packages/cli/src/main.ts');
  const command = [process.execPath, '-C', 'runwire', program, 'backup', '--to', join(dataDir, 'backup')];
  const script = '"$@" > /dev/null || exit 1; times';
  const times = execFileSync('bash', ['-c', script, 'backup', ...command], { env, encoding: 'utf8' })
    .trim()
    .split('\n')
    .at(-1);
  return [...(times ?? '').matchAll(/(\d+)m([\d.,]+)s/g)].reduce((sum, [, minutes, rest]) => {
    return sum + Number(minutes) * 60 + Number(rest?.replace(',', '.'));
  }, 0);
}

const provider = await startProvider();
const columns: { readonly store: string; readonly runs: number; readonly figures: Figures }[] = [];
for (const store of stores) {
  await using postgres = store === 'postgres' ? await startDurablePostgres() : null;
  for (const runs of pasts) {
    const figures = await measure(runs, postgres, provider.port);
    columns.push({ store, runs, figures });
    process.stderr.write(`${store}, ${runs} runs: ${JSON.stringify(figures)}\n`);
  }
}
provider.stop();

const labels = Object.keys(columns[0]?.figures ?? {}) as (keyof Figures)[];
const digits = (label: string) => (label.endsWith('rows') ? 0 : label.endsWith('a run') ? 3 : 1);
const cells = labels.map((label) => [label, ...columns.map(({ figures }) => figures[label].toFixed(digits(label)))]);
const chart = (store: string) => {
  const values = columns
    .filter((column) => column.store === store)
    .map(({ figures }) => figures['short: CPU ms a run']);
  return `  line [${values.map((value) => value.toFixed(2)).join(', ')}]`;
};
const ceiling = Math.ceil(Math.max(...columns.map(({ figures }) => figures['short: CPU ms a run'])) + 0.5);
const shown = `${grid(['', ...columns.map(({ store, runs }) => `${store}, ${runs} runs`)], cells)}

\`\`\`mermaid
xychart-beta
  title "CPU of a short run by the number of earlier runs: ${stores.join(', ')}"
  x-axis [${pasts.join(', ')}]
  y-axis "CPU ms a run" 0 --> ${ceiling}
${stores.map(chart).join('\n')}
\`\`\``;
process.stdout.write(`${shown}\n`);
if (options['update-docs']) writeDocsSection('growth', 'npm run bench -- growth', shown);
for (const store of stores) {
  const at = (runs: number) => columns.find((column) => column.store === store && column.runs === runs)?.figures;
  const [empty, largest] = [at(0), at(most)];
  if (empty === undefined || largest === undefined) continue;
  const bounds = { 'short: CPU ms a run': empty['short: CPU ms a run'] * MAX_GROWTH, ...BOUNDS };
  for (const [label, bound] of Object.entries(bounds)) {
    const value = largest[label as keyof Figures];
    const verdict = value > bound ? 'MISSED' : 'met';
    process.stdout.write(`${store}, ${label}: ${value.toFixed(2)} of at most ${bound.toFixed(2)}: ${verdict}\n`);
  }
}
process.stdout.write(`${JSON.stringify({ node: process.version, seconds, columns })}\n`);
