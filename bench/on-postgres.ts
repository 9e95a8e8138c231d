import { parseArgs } from 'node:util';
import { load, loadOne, startContestant, startProvider } from './contestants.ts';
import { startDurablePostgres } from './database-meter.ts';
import { writeDocsSection } from './docs-section.ts';
import { median } from './phases.ts';
import { measureNodes, nodePhases, type PhaseMeasurement } from './postgres-nodes.ts';
import { grid } from './table.ts';
import { ANSWER_DELAY_MS, TripCounter } from './trip-counter.ts';

/*
 * Compares our server on PostgreSQL, in several processes on one database, with the embedded database, in alternating
 * rounds: embedded, one node, two, three, embedded, … Each round starts fresh processes with a fresh database and warms
 * them up.
 */

const { values: options } = parseArgs({
  options: {
    postgres: { type: 'boolean', default: false },
    nodes: { type: 'string', default: '1,2,3' },
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    members: { type: 'string', default: '32' },
    'update-docs': { type: 'boolean', default: false },
  },
});

const nodeCounts = options.nodes.split(',').map(Number);
if (!nodeCounts.every((count) => Number.isInteger(count) && count > 0)) {
  throw new Error(`--nodes is ${options.nodes}; say how many, such as 1,2,3.`);
}
const rounds = Number(options.rounds ?? (options.quick ? 1 : 3));
const seconds = Number(options.seconds ?? (options.quick ? 0.5 : 5));
const members = Number(options.members);
interface Metric {
  readonly label: string;
  readonly phase: string;
  readonly digits: number;
  readonly of: (measured: PhaseMeasurement) => number | undefined;
}

const ofDatabase = (phase: string): readonly Metric[] => [
  { label: `${phase}: CPU ms a run, PostgreSQL`, phase, digits: 3, of: ({ database }) => database?.cpuMs },
  { label: `${phase}: commits a run`, phase, digits: 2, of: ({ database }) => database?.commits },
  { label: `${phase}: writing transactions a run`, phase, digits: 2, of: (m) => m.database?.writingTransactions },
  { label: `${phase}: statements a run`, phase, digits: 1, of: ({ database }) => database?.statements },
  {
    label: `${phase}: kB of WAL a run`,
    phase,
    digits: 1,
    of: ({ database }) => (database === null ? undefined : database.walBytes / 1024),
  },
];
const metrics: readonly Metric[] = [
  ...['short', 'long'].flatMap((phase) => [
    { label: `${phase}: runs/s`, phase, digits: 0, of: (m: PhaseMeasurement) => m.runsPerSecond },
    { label: `${phase}: CPU ms a run, servers`, phase, digits: 3, of: (m: PhaseMeasurement) => m.cpuMsPerRun },
    ...ofDatabase(phase),
  ]),
  { label: 'single: first token ms', phase: 'single', digits: 2, of: (m) => m.firstTokenMs },
  ...ofDatabase('single'),
];

const provider = await startProvider();
await using postgres = await startDurablePostgres();
const columns = ['embedded', ...nodeCounts.map((count) => `${count} ${count === 1 ? 'node' : 'nodes'}`)];
const results = new Map<string, PhaseMeasurement[]>(columns.map((column) => [column, []]));
const common = { members, providerPort: provider.port } as const;
const nodesOptions = { ...common, seconds, isQuick: options.quick };
const { warmUps, phases, idleSeconds } = nodePhases(nodesOptions);

async function measureEmbedded(): Promise<PhaseMeasurement[]> {
  await using contestant = await startContestant('ours', common);
  await load(contestant, warmUps);
  return (await load(contestant, phases)).map((result) => ({ ...result, database: null }));
}

/** Returns the round trips per run, by phase, including those of the nodes' periodic work, one or two per second. */
async function countTrips(nodes: number): Promise<ReadonlyMap<string, number>> {
  await using counter = await TripCounter.start(postgres.port);
  const url = counter.url(await postgres.database());
  await using contestant = await startContestant('ours', { ...common, postgres: { url, nodes } });
  await load(contestant, warmUps);
  const trips = new Map<string, number>();
  for (const phase of phases) {
    const before = counter.trips;
    const { runs } = await loadOne(contestant, phase);
    trips.set(phase.name, (counter.trips - before) / runs);
  }
  return trips;
}

for (let round = 1; round <= rounds; round += 1) {
  for (const [place, column] of columns.entries()) {
    const nodes = nodeCounts[place - 1];
    const measured = nodes === undefined ? await measureEmbedded() : await measureNodes(postgres, nodes, nodesOptions);
    results.get(column)?.push(...measured);
    const figures = measured.map((m) => `${m.name} ${m.runsPerSecond.toFixed(0)}/s ${m.cpuMsPerRun.toFixed(3)} ms`);
    process.stderr.write(`round ${round} of ${rounds}, ${column.padEnd(8)}: ${figures.join(' · ')}\n`);
  }
}
const trips = new Map<string, ReadonlyMap<string, number>>();
for (const [place, nodes] of nodeCounts.entries()) trips.set(columns[place + 1] ?? '', await countTrips(nodes));
provider.stop();

interface Figure {
  readonly name: string;
  readonly digits: number;
  /** By column. Null if there is no value: the embedded database has no round trips. */
  readonly values: readonly (number | null)[];
}

const figures: readonly Figure[] = [
  ...metrics.map(({ label, phase, digits, of }) => {
    const values = columns.map((column) => {
      const values = (results.get(column) ?? []).filter(({ name }) => name === phase).map(of);
      const numbers = values.filter((value) => value !== undefined);
      return numbers.length === 0 ? null : median(numbers);
    });
    return { name: label, digits, values };
  }),
  ...phases.map(({ name: phase }) => ({
    name: `${phase}: round trips a run`,
    digits: 2,
    values: columns.map((column) => trips.get(column)?.get(phase) ?? null),
  })),
].sort((one, other) => getPhase(one.name) - getPhase(other.name));

function getPhase(name: string): number {
  return phases.findIndex((phase) => name.startsWith(phase.name));
}

const cells = figures.map(({ name, digits, values }) => [
  name,
  ...values.map((value) => (value === null ? '–' : value.toFixed(digits))),
]);
const all = [...results.values()].flat();
const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
const generator = Math.max(...all.map((result) => result.generatorLoad));
const [{ version } = {}] = await postgres
  .query('show server_version')
  .then((rows) => rows.map((row) => ({ version: String(row.server_version) })));

const comparison = grid(['', ...columns], cells);
process.stdout.write(`${comparison}
short: 20 tokens, 32 at once; long: 500 tokens, 16 at once; single: 20 tokens, 1 at once. Medians of ${rounds} alternating rounds of ${seconds} s.
PostgreSQL ${version} on this machine, fsync=on, its statements counted by pg_stat_statements. What the nodes do by themselves in
the same time, seen for ${idleSeconds} s before, is taken off PostgreSQL's figures. Round trips: counted once, in a pass of
their own, with every answer of PostgreSQL held back for ${ANSWER_DELAY_MS} ms.
Every answer was checked to its end. Of one core the load generator took at most ${percent(generator)}.
${JSON.stringify({
  ...{ node: process.version, postgres: version, rounds, seconds, members, columns },
  figures: figures.map(({ name, values }) => ({ name, values })),
  measured: Object.fromEntries(results),
})}
`);
if (options['update-docs']) writeDocsSection('postgres', 'npm run bench -- --postgres', comparison);
