import type { Order } from './model.ts';

/** A task for the load generator, and its result. */

export interface Phase extends Order {
  readonly name: string;
  /**
   * `answers`: one after the other on each connection, none started after `seconds`. `paced`: one on each connection,
   * all started together. `turns`: one chat of 50 turns on each connection. `idle`: one on each connection, which sends
   * one word and then nothing; the server's memory is measured while all of them are open, and they stay open.
   */
  readonly kind: 'answers' | 'paced' | 'turns' | 'idle';
  /** Our server's agency; one agent without tools of its own if it is absent. */
  readonly agency?: 'tools' | 'team';
  readonly atOnce: number;
  readonly seconds: number;
  /** If set, a phase of `answers` ends after this many runs instead of `seconds`. */
  readonly runs?: number;
}

/** The scenarios by name. */
export const SCENARIOS = {
  short: { kind: 'answers', tokens: 20, burst: 1, everyMs: 0, atOnce: 32 },
  /** The same runs through the Responses API. Only our server has it. */
  responses: { kind: 'answers', tokens: 20, burst: 1, everyMs: 0, atOnce: 32, framing: 'responses' },
  long: { kind: 'answers', tokens: 500, burst: 1, everyMs: 0, atOnce: 16 },
  bursts: { kind: 'answers', tokens: 500, burst: 8, everyMs: 0, atOnce: 16 },
  single: { kind: 'answers', tokens: 20, burst: 1, everyMs: 0, atOnce: 1 },
  slow: { kind: 'paced', tokens: 100, burst: 1, everyMs: 20, atOnce: 500 },
  /** Ten answers of the model, nine of which call a tool. */
  steps: { kind: 'answers', tokens: 20, burst: 1, everyMs: 0, calls: 9, atOnce: 32, agency: 'tools' },
  /** The demo agency: three agents, two of which the first one may ask. */
  team: { kind: 'answers', tokens: 20, burst: 1, everyMs: 0, atOnce: 32, agency: 'team' },
  'team single': { kind: 'answers', tokens: 20, burst: 1, everyMs: 0, atOnce: 1, agency: 'team' },
  turns: { kind: 'turns', tokens: 20, burst: 1, everyMs: 0, atOnce: 64 },
  idle: { kind: 'idle', tokens: 2, burst: 1, everyMs: 600_000, atOnce: 500 },
} as const satisfies Readonly<Record<string, Omit<Phase, 'name' | 'seconds'>>>;

export interface LoadOrder {
  /** Connection i uses server i modulo their number. */
  readonly servers: readonly { readonly pid: number; readonly port: number }[];
  readonly path: string;
  readonly apiKey: string | null;
  readonly integrationId: string;
  /** Connection i uses member i modulo this number. */
  readonly members: number;
  readonly phases: readonly Phase[];
}

/** The load generator requests the server's memory with this word. */
export const ASK_MEMORY = 'memory';

export interface PhaseResult {
  readonly name: string;
  readonly runs: number;
  readonly runsPerSecond: number;
  readonly cpuMsPerRun: number;
  readonly cpuMicrosPerToken: number;
  /** A step is an answer of the model with the tool call in it. */
  readonly cpuMsPerStep: number;
  readonly firstTokenMs: number;
  /** The longest time from a request to the end of its answer. It shows a stall of the whole server. */
  readonly slowestMs: number;
  /** For a phase of turns: the CPU of turns 46 to 50 of a chat divided by the CPU of turns 1 to 5. Otherwise 0. */
  readonly turnGrowth: number;
  /** For a paced phase: the tokens and their delays. Otherwise 0. */
  readonly eventsPerSecond: number;
  readonly lagMedianMs: number;
  readonly lagP99Ms: number;
  /** For the idle phase: what each open stream adds to the memory that JavaScript holds, in units of 1 024 bytes. */
  readonly idleHeldKb: number;
  /** Per run, in a server that was started by `withCounting`, otherwise 0. In kB of 1 000 bytes. */
  readonly allocatedKb: number;
  readonly statements: number;
  readonly writeCalls: number;
  readonly writtenKb: number;
  /** In cores: the CPU of the server, of the load generator, and of everything else on the machine. */
  readonly serverLoad: number;
  readonly generatorLoad: number;
  readonly othersLoad: number;
}

/** The agency's integration. */
export function integrationFor(integrationId: string, agency: Phase['agency']): string {
  return agency === undefined ? integrationId : `${integrationId}-${agency}`;
}

export const memberId = (index: number) => `member-${index}`;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** The median change from `before` to `after` in percent. Figures at the same index were measured together. */
export function pairedChange(before: readonly number[], after: readonly number[]): number {
  return (median(after.map((value, index) => value / (before[index] ?? value))) - 1) * 100;
}
