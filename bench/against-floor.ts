import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type ContestantName, load, startContestant, startProvider, withCounting } from './contestants.ts';
import { COUNTED, countRuns } from './counts.ts';
import { COUNTS, chooseMetrics, type Metric } from './metrics.ts';
import { median, type Phase, type PhaseResult, SCENARIOS } from './phases.ts';
import { table } from './table.ts';

/*
 * Compares our server with all features against the floor, in alternating rounds: floor, ours, floor, ours, … Each
 * round starts a fresh process, alone on the machine, and warms it up. The result is the median of the rounds.
 */

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    members: { type: 'string', default: '32' },
    synchronous: { type: 'string', default: 'full' },
    'in-process': { type: 'boolean', default: false },
    messages: { type: 'boolean', default: false },
    columns: { type: 'string', default: 'all' },
  },
});

/** What a step of a run with tools may cost beyond the floor. */
const MAX_STEP_MS = 2;
const MAX_AGENCIES_MS = 2000;
const metrics = chooseMetrics(options.columns);
const onlyCounts = metrics.every(({ column }) => COUNTS.some((name) => name === column));
const rounds = Number(options.rounds ?? (options.quick || onlyCounts ? 1 : 3));
const seconds = Number(options.seconds ?? (options.quick ? 0.5 : 5));
const members = Number(options.members);
const synchronous = options.synchronous === 'normal' ? 'normal' : 'full';

const { short, long, bursts, single, steps } = SCENARIOS;
const streams = options.quick ? 60 : SCENARIOS.slow.atOnce;
// The streams open one after the other, and are measured only while all of them are open.
const slowSeconds = seconds + 1 + streams * 0.01;
const slow = { ...SCENARIOS.slow, atOnce: streams, tokens: Math.ceil((slowSeconds * 1000) / SCENARIOS.slow.everyMs) };

const warmUpSeconds = options.quick ? 0.3 : 1.2;
const allPhases: readonly Phase[] = [
  { ...short, name: 'warm-up', seconds: warmUpSeconds * 1.5 },
  { ...long, name: 'warm-up', seconds: warmUpSeconds },
  { ...bursts, name: 'warm-up', seconds: warmUpSeconds / 2 },
  { ...steps, name: 'warm-up', seconds: warmUpSeconds / 2 },
  { ...short, name: 'short', seconds },
  { ...long, name: 'long', seconds },
  { ...bursts, name: 'bursts', seconds },
  { ...steps, name: 'steps', seconds },
  { ...single, name: 'single', seconds: seconds / 2 },
  { ...slow, name: 'slow', seconds },
];
const isChosen = ({ name }: Phase) => metrics.some(({ phase }) => phase === name);
const phases = allPhases.filter((phase) => phase.name === 'warm-up' || isChosen(phase));

/** Measures one server, in a new process for each part. */
async function measure(name: ContestantName): Promise<PhaseResult[]> {
  const settings = { members, synchronous, providerPort, protocol } as const;
  const measured: PhaseResult[] = [];
  if (phases.some(isChosen)) {
    await using contestant = await startContestant(name, settings);
    measured.push(...(await load(contestant, phases)).filter((result) => result.name !== 'warm-up'));
  }
  if (COUNTED.some(isChosen)) {
    await using contestant = await withCounting(() => startContestant(name, settings));
    measured.push(...(await countRuns(contestant)));
  }
  return measured;
}

const provider = options['in-process'] ? null : await startProvider();
const providerPort = provider?.port ?? null;
const protocol = options.messages ? 'messages' : 'responses';
const results: Record<ContestantName, PhaseResult[]> = { floor: [], ours: [] };
for (let round = 1; round <= rounds; round += 1) {
  for (const name of ['floor', 'ours'] as const) {
    const measured = await measure(name);
    results[name].push(...measured);
    const figures = metrics.map(({ phase, field, digits }) => {
      const value = measured.find((result) => result.name === phase)?.[field];
      return `${phase} ${value?.toFixed(digits)}`;
    });
    process.stderr.write(`round ${round} of ${rounds}, ${name.padEnd(5)}: ${figures.join(' · ')}\n`);
  }
}

provider?.stop();

/** What it takes to load 100 agencies, each time in a new process. */
const agenciesMs = onlyCounts ? 0 : median(Array.from({ length: rounds }, () => Number(run('load-agencies.ts'))));
function run(script: string): string {
  return execFileSync(process.execPath, ['-C', 'runwire', join(import.meta.dirname, script)], { encoding: 'utf8' });
}

const of = (name: ContestantName, phase: string, field: Metric['field']) =>
  median(results[name].filter((result) => result.name === phase).map((result) => result[field]));
const rows = metrics.map((metric) => {
  const floor = of('floor', metric.phase, metric.field);
  const ours = of('ours', metric.phase, metric.field);
  return { metric, floor, ours, ratio: metric.more === true ? floor / ours : ours / floor };
});
const ownMsPerStep = of('ours', 'steps', 'cpuMsPerStep') - of('floor', 'steps', 'cpuMsPerStep');
const all = [...results.floor, ...results.ours];
const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
const generator = Math.max(...all.map((result) => result.generatorLoad));
const others = median(all.map((result) => result.othersLoad));

const limits = `A step with a tool costs ${ownMsPerStep.toFixed(2)} ms of our own CPU, beyond the floor; the limit is ${MAX_STEP_MS} ms.
100 YAML agencies of 5 agents load in ${agenciesMs} ms; the limit is ${MAX_AGENCIES_MS} ms.
`;

process.stdout.write(`${table(rows)}
short: 20 tokens, 32 at once; long: 500 tokens, 16 at once; slow: ${streams} streams, a token each 20 ms;
idle: ${streams} streams that say nothing. Medians of ${rounds} alternating rounds of ${seconds} s.
${onlyCounts ? '' : limits}Floor: bare node:http, the chat stored in SQLite, synchronous=${synchronous}. Ours: everything on, ${members} members.
Tokens come ${provider === null ? 'from a model in the same process' : 'from a provider in another process, over HTTP'}.
Every answer was checked to its end. Of one core the load generator took at most ${percent(generator)}, other processes ${percent(others)}.
${JSON.stringify({
  node: process.version,
  rounds,
  seconds,
  members,
  synchronous,
  inProcess: options['in-process'],
  streams,
  ownMsPerStep,
  agenciesMs,
  figures: rows.map(({ metric, floor, ours, ratio }) => ({ name: metric.label, floor, ours, ratio })),
  measured: results,
})}
`);
