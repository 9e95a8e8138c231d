import type { Order } from './model.ts';

/** What the load generator is asked to do, and what it tells. */

export interface Phase extends Order {
  readonly name: string;
  /**
   * `answers`: one after the other on each connection, none begun after `seconds`. `paced`: one on each connection,
   * all at the same time. `idle`: one on each connection that says a word and no more; the server's memory is looked
   * at while all of them are open, and they are left there.
   */
  readonly kind: 'answers' | 'paced' | 'idle';
  readonly atOnce: number;
  readonly seconds: number;
}

/** The scenarios by their names; how many tokens a slow stream has follows from how long it is to last. */
export const SCENARIOS = {
  short: { kind: 'answers', tokens: 20, burst: 1, everyMs: 0, atOnce: 32 },
  long: { kind: 'answers', tokens: 500, burst: 1, everyMs: 0, atOnce: 16 },
  bursts: { kind: 'answers', tokens: 500, burst: 8, everyMs: 0, atOnce: 16 },
  single: { kind: 'answers', tokens: 20, burst: 1, everyMs: 0, atOnce: 1 },
  slow: { kind: 'paced', tokens: 0, burst: 1, everyMs: 20, atOnce: 500 },
  idle: { kind: 'idle', tokens: 2, burst: 1, everyMs: 600_000, atOnce: 500 },
} as const satisfies Readonly<Record<string, Omit<Phase, 'name' | 'seconds'>>>;

export interface LoadOrder {
  /** Connection i goes to server i modulo their number. */
  readonly servers: readonly { readonly pid: number; readonly port: number }[];
  readonly path: string;
  readonly apiKey: string | null;
  readonly integrationId: string;
  /** Connection i speaks for member i modulo this. */
  readonly members: number;
  readonly phases: readonly Phase[];
}

/** The load generator asks for the server's memory by this word. */
export const ASK_MEMORY = 'memory';

export interface PhaseResult {
  readonly name: string;
  readonly runs: number;
  readonly runsPerSecond: number;
  readonly cpuMsPerRun: number;
  readonly cpuMicrosPerToken: number;
  readonly firstTokenMs: number;
  /** From the request to the end of the answer that took longest: a stall of the whole server shows here. */
  readonly slowestMs: number;
  /** Of a paced phase, while all its streams were open: tokens read, and how long each was under way. Else 0. */
  readonly eventsPerSecond: number;
  readonly lagMedianMs: number;
  readonly lagP99Ms: number;
  /** Of the idle phase: what each open stream adds to what the server holds, and to its resident memory. Else 0. */
  readonly idleHeldKb: number;
  readonly idleResidentKb: number;
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
