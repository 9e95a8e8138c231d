import type { PhaseResult } from './phases.ts';
import { grid } from './table.ts';

/** What the goals are computed from. A figure that was not measured is undefined. */
export interface BenchFigures {
  readonly figure: (contestant: string, phase: string, field: Exclude<keyof PhaseResult, 'name'>) => number | undefined;
  readonly start: { readonly source: number; readonly build: number } | undefined;
  readonly postgres: { readonly statements: number; readonly cpuMs: number } | undefined;
  /** The names of the contestants that are no floors and not our server. */
  readonly peers: readonly string[];
}

interface Goal {
  readonly name: string;
  readonly goal: number;
  readonly unit: string;
  readonly digits: number;
  /** True if a larger number is better. */
  readonly more?: true;
  readonly measure: (measured: BenchFigures) => number | undefined;
}

const divide = (one: number | undefined, other: number | undefined) =>
  one === undefined || other === undefined ? undefined : one / other;

const ratio =
  (phase: string, field: Exclude<keyof PhaseResult, 'name'>, floor: 'floor' | 'durable') =>
  ({ figure }: BenchFigures) =>
    divide(figure('ours', phase, field), figure(floor, phase, field));

const ours =
  (phase: string, field: Exclude<keyof PhaseResult, 'name'>) =>
  ({ figure }: BenchFigures) =>
    figure('ours', phase, field);

function timesBestPeer({ figure, peers }: BenchFigures): number | undefined {
  const rates = peers.map((peer) => figure(peer, 'short', 'runsPerSecond') ?? 0);
  return rates.length === 0 ? undefined : divide(figure('ours', 'short', 'runsPerSecond'), Math.max(...rates));
}

const { short, durable } = { short: 'short', durable: 'durable' } as const;
const GOALS: readonly Goal[] = [
  {
    name: 'short, CPU × durable floor',
    goal: 1.6,
    unit: '×',
    digits: 2,
    measure: ratio(short, 'cpuMsPerRun', durable),
  },
  {
    name: 'Responses API, CPU × own framing',
    goal: 1.2,
    unit: '×',
    digits: 2,
    measure: ({ figure }) => divide(figure('ours', 'responses', 'cpuMsPerRun'), figure('ours', short, 'cpuMsPerRun')),
  },
  {
    name: 'single, CPU × durable floor',
    goal: 1.6,
    unit: '×',
    digits: 2,
    measure: ratio('single', 'cpuMsPerRun', durable),
  },
  {
    name: 'slow, CPU × storing floor',
    goal: 1.25,
    unit: '×',
    digits: 2,
    measure: ratio('slow', 'cpuMicrosPerToken', 'floor'),
  },
  {
    name: 'long, CPU × storing floor',
    goal: 0.85,
    unit: '×',
    digits: 2,
    measure: ratio('long', 'cpuMicrosPerToken', 'floor'),
  },
  { name: 'turn 46–50 ÷ turn 1–5, CPU', goal: 1.1, unit: '×', digits: 2, measure: ours('turns', 'turnGrowth') },
  { name: 'heap of a waiting stream', goal: 34, unit: 'kB', digits: 1, measure: ours('idle', 'idleHeldKb') },
  { name: 'allocation per short run', goal: 150, unit: 'kB', digits: 0, measure: ours('counted short', 'allocatedKb') },
  { name: 'write calls per single run', goal: 40, unit: '', digits: 1, measure: ours('counted single', 'writeCalls') },
  { name: 'start to ready from source, CPU', goal: 1.3, unit: 's', digits: 2, measure: ({ start }) => start?.source },
  { name: 'start to ready from the build, CPU', goal: 0.6, unit: 's', digits: 2, measure: ({ start }) => start?.build },
  {
    name: 'PostgreSQL: statements per short run',
    goal: 9,
    unit: '',
    digits: 1,
    measure: ({ postgres }) => postgres?.statements,
  },
  {
    name: 'PostgreSQL: its CPU per short run',
    goal: 1,
    unit: 'ms',
    digits: 2,
    measure: ({ postgres }) => postgres?.cpuMs,
  },
  { name: 'short, runs/s ÷ best peer', goal: 13, unit: '×', digits: 1, more: true, measure: timesBestPeer },
];

/** The goals whose figures were measured, as a table. */
export function goalTable(measured: BenchFigures): string {
  const cells = GOALS.flatMap(({ name, goal, unit, digits, more, measure }) => {
    const value = measure(measured);
    if (value === undefined) return [];
    const isMet = more === true ? value >= goal : value <= goal;
    const text = (number: number, places: number) => `${number.toFixed(places)} ${unit}`.trimEnd();
    return [
      [name, text(value, digits), `${more === true ? '≥' : '≤'} ${goal} ${unit}`.trimEnd(), isMet ? 'met' : 'MISSED'],
    ];
  });
  return grid(['goal', 'measured', 'bound', ''], cells);
}
