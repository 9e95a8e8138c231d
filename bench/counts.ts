import { readFileSync } from 'node:fs';
import { type Contestant, firstMessage, load, loadOne } from './contestants.ts';
import type { ProcessCounts } from './counting.ts';
import { type Phase, type PhaseResult, SCENARIOS } from './phases.ts';

/*
 * Counts what a run costs: allocated bytes, statements, write calls and written bytes. Other load of the machine changes
 * times, but hardly these. Also measures the memory of waiting streams. The server must be started by `withCounting`.
 */

const { short, single, team, idle } = SCENARIOS;
/** Allocation falls until the hot functions are compiled: by 3 times in the first 300 runs, by 3 % after 1 000. */
const WARM_UPS = [
  { ...short, name: 'warm-up', seconds: 0, runs: 2500 },
  { ...single, name: 'warm-up', seconds: 0, runs: 300 },
] as const satisfies readonly Phase[];
const IDLE = { ...idle, name: 'idle', seconds: 0 } as const satisfies Phase;
/** The last phase leaves its streams open. */
export const COUNTED: readonly Phase[] = [
  { ...short, name: 'counted short', seconds: 0, runs: 800 },
  { ...single, name: 'counted single', seconds: 0, runs: 200 },
  { ...team, name: 'counted team', seconds: 0, runs: 400 },
  IDLE,
];

interface Reading extends ProcessCounts {
  readonly writeCalls: number;
  readonly writtenBytes: number;
}

/**
 * Writes are those of the main thread: to sockets, the write-ahead log of SQLite and the log. Another thread copies the
 * write-ahead log into the database, depending on the time.
 */
export async function readCounts({ process: { pid }, process: child }: Pick<Contestant, 'process'>): Promise<Reading> {
  const lines = readFileSync(`/proc/${pid}/task/${pid}/io`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(lines)?.[1]);
  child.kill('SIGUSR2');
  const counts = await firstMessage<ProcessCounts>(child);
  return { ...counts, writeCalls: field('syscw'), writtenBytes: field('wchar') };
}

export async function countRuns(contestant: Contestant, phases: readonly Phase[] = COUNTED): Promise<PhaseResult[]> {
  await load(contestant, WARM_UPS);
  const results: PhaseResult[] = [];
  for (const phase of phases) results.push(await countPhase(contestant, phase));
  return results;
}

export async function countPhase(contestant: Contestant, phase: Phase): Promise<PhaseResult> {
  const before = await readCounts(contestant);
  const result = await loadOne(contestant, phase);
  const after = await readCounts(contestant);
  const perRun = (field: keyof Reading) => (after[field] - before[field]) / result.runs;
  return {
    ...result,
    allocatedKb: perRun('allocatedBytes') / 1000,
    statements: perRun('statements'),
    writeCalls: perRun('writeCalls'),
    writtenKb: perRun('writtenBytes') / 1000,
  };
}
