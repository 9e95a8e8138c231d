/** What the load generator is asked to do, and what it tells. */

export interface Phase {
  readonly name: string;
  readonly tokens: number;
  /** Tokens of one answer in one turn of the server's loop. */
  readonly burst: number;
  readonly atOnce: number;
  /** No answer is begun after this. */
  readonly seconds: number;
}

export interface LoadOrder {
  readonly pid: number;
  readonly port: number;
  readonly path: string;
  readonly apiKey: string | null;
  readonly integrationId: string;
  /** Connection i speaks for member i modulo this. */
  readonly members: number;
  readonly phases: readonly Phase[];
}

export interface PhaseResult {
  readonly name: string;
  readonly runs: number;
  readonly runsPerSecond: number;
  readonly cpuMsPerRun: number;
  readonly cpuMicrosPerToken: number;
  readonly firstTokenMs: number;
  /** From the request to the end of the answer that took longest: a stall of the whole server shows here. */
  readonly slowestMs: number;
  /** Of one core: the server's, the load generator's own, and that of everything else on the machine. */
  readonly serverLoad: number;
  readonly generatorLoad: number;
  readonly othersLoad: number;
}

export const memberId = (index: number) => `member-${index}`;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
