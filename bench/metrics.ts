import type { PhaseResult } from './phases.ts';

/** One line of the table. `--columns` chooses lines by their column, several of which may share one. */
export interface Metric {
  readonly column: string;
  readonly label: string;
  readonly phase: string;
  readonly field: Exclude<keyof PhaseResult, 'name'>;
  readonly digits: number;
  /** True if a larger number is better. */
  readonly more?: true;
  /** The phase of the other contestants to compare with, if they do not have this one. */
  readonly floorPhase?: string;
}

const metrics = [
  { column: 'short', label: 'short: runs/s', phase: 'short', field: 'runsPerSecond', digits: 0, more: true },
  { column: 'short', label: 'short: CPU ms a run', phase: 'short', field: 'cpuMsPerRun', digits: 3 },
  { column: 'short', label: 'short: slowest answer ms', phase: 'short', field: 'slowestMs', digits: 0 },
  {
    column: 'responses',
    label: 'short, Responses API: CPU ms a run',
    phase: 'responses',
    floorPhase: 'short',
    field: 'cpuMsPerRun',
    digits: 3,
  },
  { column: 'single', label: 'single: CPU ms a run', phase: 'single', field: 'cpuMsPerRun', digits: 3 },
  { column: 'single', label: 'single: first token ms', phase: 'single', field: 'firstTokenMs', digits: 2 },
  {
    column: 'team',
    label: 'short, demo team: CPU ms a run',
    phase: 'team',
    floorPhase: 'short',
    field: 'cpuMsPerRun',
    digits: 3,
  },
  {
    column: 'team',
    label: 'single, demo team: CPU ms a run',
    phase: 'team single',
    floorPhase: 'single',
    field: 'cpuMsPerRun',
    digits: 3,
  },
  { column: 'long', label: 'long: runs/s', phase: 'long', field: 'runsPerSecond', digits: 1, more: true },
  { column: 'long', label: 'long: µs CPU a token', phase: 'long', field: 'cpuMicrosPerToken', digits: 2 },
  { column: 'long', label: 'long: slowest answer ms', phase: 'long', field: 'slowestMs', digits: 0 },
  {
    column: 'bursts',
    label: 'long, eight a turn: µs CPU a token',
    phase: 'bursts',
    field: 'cpuMicrosPerToken',
    digits: 2,
  },
  { column: 'steps', label: 'ten steps with tools: CPU ms a step', phase: 'steps', field: 'cpuMsPerStep', digits: 3 },
  { column: 'slow', label: 'slow: events/s', phase: 'slow', field: 'eventsPerSecond', digits: 0, more: true },
  { column: 'slow', label: 'slow: µs CPU a token', phase: 'slow', field: 'cpuMicrosPerToken', digits: 2 },
  { column: 'slow', label: 'slow: lag ms, median', phase: 'slow', field: 'lagMedianMs', digits: 2 },
  { column: 'slow', label: 'slow: lag ms, 99 of 100', phase: 'slow', field: 'lagP99Ms', digits: 1 },
  { column: 'turns', label: 'turn 46–50 ÷ turn 1–5, CPU', phase: 'turns', field: 'turnGrowth', digits: 2 },
  { column: 'heap', label: 'waiting stream: kB of heap', phase: 'idle', field: 'idleHeldKb', digits: 1 },
  { column: 'alloc', label: 'short: kB allocated a run', phase: 'counted short', field: 'allocatedKb', digits: 1 },
  { column: 'alloc', label: 'single: kB allocated a run', phase: 'counted single', field: 'allocatedKb', digits: 1 },
  {
    column: 'alloc',
    label: 'short, demo team: kB allocated a run',
    phase: 'counted team',
    floorPhase: 'counted short',
    field: 'allocatedKb',
    digits: 1,
  },
  {
    column: 'statements',
    label: 'short: SQLite statements a run',
    phase: 'counted short',
    field: 'statements',
    digits: 1,
  },
  {
    column: 'statements',
    label: 'single: SQLite statements a run',
    phase: 'counted single',
    field: 'statements',
    digits: 1,
  },
  { column: 'writes', label: 'short: write calls a run', phase: 'counted short', field: 'writeCalls', digits: 1 },
  { column: 'writes', label: 'short: kB written a run', phase: 'counted short', field: 'writtenKb', digits: 1 },
  { column: 'writes', label: 'single: write calls a run', phase: 'counted single', field: 'writeCalls', digits: 1 },
  { column: 'writes', label: 'single: kB written a run', phase: 'counted single', field: 'writtenKb', digits: 1 },
] as const satisfies readonly Metric[];

type Column = (typeof metrics)[number]['column'];
/** `start` and `postgres` have no line for each contestant; they appear among the goals. */
const ALL = [...new Set(metrics.map(({ column }) => column)), 'start', 'postgres'] as const;
/** The columns that other load of the machine does not change. */
const COUNTS = ['alloc', 'statements', 'writes', 'heap'] as const satisfies readonly Column[];

export interface Choice {
  /** In the table's order. */
  readonly metrics: readonly Metric[];
  readonly hasStart: boolean;
  readonly hasPostgres: boolean;
  /** True if nothing that takes a quiet machine is chosen. */
  readonly isOnlyCounts: boolean;
}

/** Reads a list of columns such as `short,counts`. */
export function chooseColumns(list: string): Choice {
  const names = list.split(',').flatMap((name) => (name === 'counts' ? COUNTS : name === 'all' ? ALL : [name]));
  const unknown = names.find((name) => !ALL.some((column) => column === name));
  if (unknown !== undefined)
    throw new Error(`There is no column ${unknown}; there are all, counts, ${ALL.join(', ')}.`);
  return {
    metrics: metrics.filter(({ column }) => names.includes(column)),
    hasStart: names.includes('start'),
    hasPostgres: names.includes('postgres'),
    isOnlyCounts: names.every((name) => COUNTS.some((count) => count === name)),
  };
}
