import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type ContestantName, load, startContestant, startProvider } from './contestants.ts';
import { median, type Phase, type PhaseResult, SCENARIOS } from './phases.ts';
import { type Metric, table } from './table.ts';

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
  },
});

/** What a step of a run with tools may cost beyond the floor. */
const MAX_STEP_MS = 2;
const MAX_AGENCIES_MS = 2000;
const rounds = Number(options.rounds ?? (options.quick ? 1 : 3));
const seconds = Number(options.seconds ?? (options.quick ? 0.5 : 5));
const members = Number(options.members);
const synchronous = options.synchronous === 'normal' ? 'normal' : 'full';

const { short, long, bursts, single, steps } = SCENARIOS;
const streams = options.quick ? 60 : SCENARIOS.slow.atOnce;
// The streams open one after the other, and are measured only while all of them are open.
const slowSeconds = seconds + 1 + streams * 0.01;
const slow = { ...SCENARIOS.slow, atOnce: streams, tokens: Math.ceil((slowSeconds * 1000) / SCENARIOS.slow.everyMs) };
const idle = { ...SCENARIOS.idle, atOnce: streams };

const warmUpSeconds = options.quick ? 0.3 : 1.2;
const phases: readonly Phase[] = [
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
/** Measured in a separate process, because memory that a busier phase left free would hide what the streams need. */
const idlePhases: readonly Phase[] = [
  { ...single, name: 'warm-up', seconds: 0.3 },
  { ...idle, name: 'idle', seconds },
];

const metrics: readonly Metric[] = [
  { label: 'short: runs/s', phase: 'short', field: 'runsPerSecond', digits: 0, more: true },
  { label: 'short: CPU ms a run', phase: 'short', field: 'cpuMsPerRun', digits: 3, more: false },
  { label: 'long, token by token: µs CPU a token', phase: 'long', field: 'cpuMicrosPerToken', digits: 2, more: false },
  { label: 'long, eight a turn: µs CPU a token', phase: 'bursts', field: 'cpuMicrosPerToken', digits: 2, more: false },
  { label: 'ten steps with tools: CPU ms a step', phase: 'steps', field: 'cpuMsPerStep', digits: 3, more: false },
  { label: 'first token ms (1 at once)', phase: 'single', field: 'firstTokenMs', digits: 2, more: false },
  { label: 'slow: events/s', phase: 'slow', field: 'eventsPerSecond', digits: 0, more: true },
  { label: 'slow: µs CPU a token', phase: 'slow', field: 'cpuMicrosPerToken', digits: 2, more: false },
  { label: 'slow: lag ms, median', phase: 'slow', field: 'lagMedianMs', digits: 2, more: false },
  { label: 'slow: lag ms, 99 of 100', phase: 'slow', field: 'lagP99Ms', digits: 1, more: false },
  { label: 'idle: kB held a stream', phase: 'idle', field: 'idleHeldKb', digits: 1, more: false },
  { label: 'idle: kB resident a stream', phase: 'idle', field: 'idleResidentKb', digits: 1, more: false },
  { label: 'short: slowest answer ms', phase: 'short', field: 'slowestMs', digits: 0, more: false },
  { label: 'long: slowest answer ms', phase: 'long', field: 'slowestMs', digits: 0, more: false },
];

const provider = options['in-process'] ? null : await startProvider();
const providerPort = provider?.port ?? null;
const protocol = options.messages ? 'messages' : 'responses';
const results: Record<ContestantName, PhaseResult[]> = { floor: [], ours: [] };
for (let round = 1; round <= rounds; round += 1) {
  for (const name of ['floor', 'ours'] as const) {
    const measured: PhaseResult[] = [];
    for (const part of [phases, idlePhases]) {
      await using contestant = await startContestant(name, { members, synchronous, providerPort, protocol });
      measured.push(...(await load(contestant, part)).filter((result) => result.name !== 'warm-up'));
    }
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
const agenciesMs = median(Array.from({ length: rounds }, () => Number(run('load-agencies.ts'))));
function run(script: string): string {
  return execFileSync(process.execPath, ['-C', 'runwire', join(import.meta.dirname, script)], { encoding: 'utf8' });
}

const of = (name: ContestantName, phase: string, field: Metric['field']) =>
  median(results[name].filter((result) => result.name === phase).map((result) => result[field]));
const rows = metrics.map((metric) => {
  const floor = of('floor', metric.phase, metric.field);
  const ours = of('ours', metric.phase, metric.field);
  return { metric, floor, ours, ratio: metric.more ? floor / ours : ours / floor };
});
const ownMsPerStep = of('ours', 'steps', 'cpuMsPerStep') - of('floor', 'steps', 'cpuMsPerStep');
const all = [...results.floor, ...results.ours];
const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
const generator = Math.max(...all.map((result) => result.generatorLoad));
const others = median(all.map((result) => result.othersLoad));

process.stdout.write(`${table(rows)}
short: 20 tokens, 32 at once; long: 500 tokens, 16 at once; slow: ${streams} streams, a token each 20 ms;
idle: ${streams} streams that say nothing. Medians of ${rounds} alternating rounds of ${seconds} s.
A step with a tool costs ${ownMsPerStep.toFixed(2)} ms of our own CPU, beyond the floor; the limit is ${MAX_STEP_MS} ms.
100 YAML agencies of 5 agents load in ${agenciesMs} ms; the limit is ${MAX_AGENCIES_MS} ms.
Floor: bare node:http, the chat stored in SQLite, synchronous=${synchronous}. Ours: everything on, ${members} members.
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
