import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type ContestantName, isOurs, load, startContestant, startProvider, withCounting } from './contestants.ts';
import { COUNTED, countRuns } from './counts.ts';
import { startDurablePostgres } from './database-meter.ts';
import { writeDocsSection } from './docs-section.ts';
import { type BenchFigures, goalTable } from './goals.ts';
import { chooseColumns, type Metric } from './metrics.ts';
import { installPeer, isForPeers, isFullPeer, isPeer, PEER_NAMES } from './peers.ts';
import { median, type Phase, type PhaseResult, SCENARIOS } from './phases.ts';
import { measureNodes, type PhaseMeasurement } from './postgres-nodes.ts';
import { measureStart } from './start.ts';
import { grid } from './table.ts';

/*
 * Compares our server with all features against the two floors, in alternating rounds: floor, durable, ours, floor, …
 * Each round starts a fresh process, alone on the machine, and warms it up. The result is the rounds' median.
 */

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    members: { type: 'string', default: '32' },
    contestants: { type: 'string', default: 'floor,durable,ours' },
    peers: { type: 'boolean', default: false },
    'in-process': { type: 'boolean', default: false },
    messages: { type: 'boolean', default: false },
    columns: { type: 'string' },
    'update-docs': { type: 'boolean', default: false },
  },
});

/** What a step of a run with tools may cost beyond the floor. */
const MAX_STEP_MS = 2;
const MAX_AGENCIES_MS = 2000;
const QUICK_COLUMNS = 'short,responses,single,team,long,bursts,steps,slow,turns';
const { metrics, isOnlyCounts, hasStart, hasPostgres } = chooseColumns(
  options.columns ?? (options.quick ? QUICK_COLUMNS : 'all'),
);
const contestants = [...options.contestants.split(','), ...(options.peers ? PEER_NAMES : [])];
for (const name of contestants) if (isPeer(name)) installPeer(name);
const rounds = Number(options.rounds ?? (options.quick || isOnlyCounts ? 1 : 3));
const seconds = Number(options.seconds ?? (options.quick ? 0.5 : 4));
const members = Number(options.members);

const { short, responses, long, bursts, single, steps, team, turns } = SCENARIOS;
const slow = { ...SCENARIOS.slow, atOnce: options.quick ? 60 : SCENARIOS.slow.atOnce };
const warmUp = { name: 'warm-up', seconds: options.quick ? 0.2 : 1 };

/** A scenario that costs less when the server has run for long is measured after a fixed number of runs. */
const PHASES: readonly Phase[] = [
  { ...short, ...warmUp, runs: options.quick ? 200 : 600 },
  { ...slow, name: 'slow', seconds },
  { ...short, ...warmUp },
  { ...long, ...warmUp },
  { ...bursts, ...warmUp },
  { ...steps, ...warmUp },
  { ...short, name: 'short', seconds },
  { ...long, name: 'long', seconds },
  { ...bursts, name: 'bursts', seconds },
  { ...steps, name: 'steps', seconds },
  { ...single, name: 'single', seconds: seconds / 2 },
];
const OUR_PHASES: readonly Phase[] = [
  { ...responses, ...warmUp },
  { ...responses, name: 'responses', seconds },
  { ...team, ...warmUp },
  { ...team, name: 'team', seconds },
  { ...SCENARIOS['team single'], name: 'team single', seconds: seconds / 2 },
  { ...turns, atOnce: options.quick ? 8 : turns.atOnce, name: 'turns', seconds },
];

const isChosen = ({ name }: Phase) => metrics.some(({ phase, floorPhase }) => phase === name || floorPhase === name);

/** Measures one server, in a new process for each part. */
async function measure(name: ContestantName): Promise<PhaseResult[]> {
  const settings = { members, providerPort, protocol } as const;
  const measured: PhaseResult[] = [];
  const phases = (isOurs(name) ? [...PHASES, ...OUR_PHASES] : PHASES).filter(
    (phase) => (phase.name === 'warm-up' || isChosen(phase)) && (!isPeer(name) || isForPeers(phase)),
  );
  if (phases.some(isChosen)) {
    await using contestant = await startContestant(name, settings);
    measured.push(...(await load(contestant, phases)).filter((result) => result.name !== 'warm-up'));
  }
  if (isPeer(name)) return measured;
  const counted = COUNTED.filter((phase) => isChosen(phase) && (isOurs(name) || phase.agency === undefined));
  if (counted.length > 0) {
    await using contestant = await withCounting(() => startContestant(name, settings));
    measured.push(...(await countRuns(contestant, counted)));
  }
  return measured;
}

const provider = options['in-process'] ? null : await startProvider();
const providerPort = provider?.port ?? null;
const protocol = options.messages ? 'messages' : 'responses';
const results = new Map<ContestantName, PhaseResult[]>(contestants.map((name) => [name, []]));
for (let round = 1; round <= rounds; round += 1) {
  for (const name of contestants) {
    const measured = await measure(name);
    results.get(name)?.push(...measured);
    const figures = metrics.flatMap(({ phase, field, digits, label }) => {
      const value = measured.find((result) => result.name === phase)?.[field];
      return value === undefined ? [] : [`${label} ${value.toFixed(digits)}`];
    });
    process.stderr.write(`round ${round} of ${rounds}, ${name}: ${figures.join(' · ')}\n`);
  }
}
const start = hasStart ? await measureStart(rounds) : undefined;
const postgres = hasPostgres && providerPort !== null ? await measureOneNode(providerPort) : undefined;
provider?.stop();

async function measureOneNode(providerPort: number): Promise<BenchFigures['postgres']> {
  await using server = await startDurablePostgres();
  const measured: PhaseMeasurement[] = [];
  const nodes = { providerPort, members, seconds, isQuick: options.quick };
  for (let round = 1; round <= rounds; round += 1) measured.push(...(await measureNodes(server, 1, nodes, ['short'])));
  const ofDatabase = (field: 'statements' | 'cpuMs') => median(measured.map(({ database }) => database?.[field] ?? 0));
  return { statements: ofDatabase('statements'), cpuMs: ofDatabase('cpuMs') };
}

/** Returns undefined if the contestant was not measured in this phase. */
const figure: BenchFigures['figure'] = (name, phase, field) => {
  const measured = (results.get(name) ?? []).filter((result) => result.name === phase);
  return measured.length === 0 ? undefined : median(measured.map((result) => result[field]));
};

interface Row {
  readonly metric: Metric;
  /** By contestant. */
  readonly values: readonly (number | undefined)[];
  /** Our cost divided by each other contestant's cost: 1 is as good. */
  readonly ratios: readonly (number | undefined)[];
}

const others = contestants.filter((name) => name !== 'ours');
const rows: readonly Row[] = metrics.map((metric) => {
  const { phase, floorPhase, field, more } = metric;
  const value = (name: string) => figure(name, isOurs(name) ? phase : (floorPhase ?? phase), field);
  const ours = value('ours');
  const ratios = others.map((name) => {
    const other = value(name);
    if (ours === undefined || other === undefined) return undefined;
    return more === true ? other / ours : ours / other;
  });
  return { metric, values: contestants.map(value), ratios };
});
const cells = rows.map(({ metric: { label, digits }, values, ratios }) => [
  label,
  ...values.map((value) => value?.toFixed(digits) ?? '–'),
  ...ratios.map((ratio) => (ratio === undefined ? '–' : `${ratio.toFixed(2)} ×`)),
]);
const figures = rows.map(({ metric, values, ratios }) => ({
  ...{ name: metric.label, values: Object.fromEntries(contestants.map((name, i) => [name, values[i]])) },
  ratios: Object.fromEntries(others.map((name, i) => [name, ratios[i]])),
}));

/** What it takes to load 100 agencies, each time in a new process. */
const agenciesMs = isOnlyCounts ? undefined : median(Array.from({ length: rounds }, loadAgencies));
function loadAgencies(): number {
  const script = join(import.meta.dirname, 'load-agencies.ts');
  return Number(execFileSync(process.execPath, ['-C', 'runwire', script], { encoding: 'utf8' }));
}
const ourStep = figure('ours', 'steps', 'cpuMsPerStep');
const floorStep = figure('floor', 'steps', 'cpuMsPerStep');
const ownMsPerStep = ourStep === undefined || floorStep === undefined ? undefined : ourStep - floorStep;
const all = [...results.values()].flat();
const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
const generator = Math.max(...all.map((result) => result.generatorLoad));
const othersLoad = median(all.map((result) => result.othersLoad));
const peers = others.filter(isFullPeer);

const comparison = grid(['', ...contestants, ...others.map((name) => `ours to ${name}`)], cells);
const goals = goalTable({ figure, start, postgres, peers });
const lines = [
  comparison,
  `short: 20 tokens, ${short.atOnce} at once; single: one at once; long: 500 tokens, ${long.atOnce} at once; slow: ${slow.atOnce} streams that start
together, a token each 20 ms; waiting: ${SCENARIOS.idle.atOnce} streams. Medians of ${rounds} alternating rounds of ${seconds} s.
floor: bare node:http that stores the chat in SQLite with a sync. durable: stores the admission with a sync too. ours:
everything on, one agent, ${members} members. Tokens come from ${provider === null ? 'a model in the same process' : 'a provider in another process, over HTTP'}.`,
  ...(ownMsPerStep === undefined
    ? []
    : [`A step with a tool costs ${ownMsPerStep.toFixed(2)} ms beyond the floor; the limit is ${MAX_STEP_MS} ms.`]),
  ...(agenciesMs === undefined
    ? []
    : [`100 YAML agencies of 5 agents load in ${agenciesMs} ms; the limit is ${MAX_AGENCIES_MS} ms.`]),
  `Every answer was checked to its end. Of one core the load generator took at most ${percent(generator)}, other processes ${percent(othersLoad)}.`,
  '',
  goals,
  JSON.stringify({
    ...{ node: process.version, rounds, seconds, members, inProcess: options['in-process'], ownMsPerStep, agenciesMs },
    ...{ start, postgres, figures, measured: Object.fromEntries(results) },
  }),
];
process.stdout.write(`${lines.join('\n')}\n`);
if (options['update-docs']) {
  writeDocsSection('goals', 'npm run bench', goals);
  writeDocsSection('comparison', 'npm run bench', comparison);
}
