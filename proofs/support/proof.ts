import { setTimeout as sleep } from 'node:timers/promises';

/** How long a proof waits for something that must happen. */
export const WAIT_MS = 60_000;

/** Returns `small` in the short form and `full` at full scale. */
export type Scale = <T>(small: T, full: T) => T;

export interface ProofOptions {
  /** The planted fault, with which the proof must fail; null to run without one. */
  readonly fault: string | null;
  readonly scale: Scale;
  /** How many servers share one PostgreSQL; null for one server on the embedded store. */
  readonly nodes: number | null;
}

/** A promise of the product that a command can check. */
export interface Proof {
  readonly name: string;
  /** How long it takes at full scale. `npm run check:full` runs the short form of a proof that takes more than 3 minutes. */
  readonly minutes: number;
  /** Every fault that can be planted, with the sentence that the proof must print then. */
  readonly faults: Readonly<Record<string, RegExp>>;
  /** Figures that must come out exactly, for a server on the embedded store. */
  readonly figures?: (scale: Scale) => Readonly<Record<string, number>>;
  /** True if `--nodes` can be given. */
  readonly spreads?: boolean;
  /** Resolves to the figures that it proved. Throws a `Shortfall` if a figure is wrong, `LeftOut` if it cannot run here. */
  run(options: ProofOptions): Promise<Record<string, number>>;
}

/** The promise was not kept. The sentence names what was expected and what was found. */
export class Shortfall extends Error {
  override readonly name = 'Shortfall';
}

/** The machine or the clone lacks something that the proof needs. The sentence names it. */
export class LeftOut extends Error {
  override readonly name = 'LeftOut';
}

/** Throws a `Shortfall` unless the number is the expected one; returns it for the figures. */
export function expectNumber(name: string, found: number, expected: number): number {
  if (found !== expected) throw new Shortfall(`${name}: expected ${expected}, found ${found}.`);
  return found;
}

/** Throws a `Shortfall` if the number is above its bound; returns it for the figures. */
export function expectAtMost(name: string, found: number, bound: number): number {
  if (!(found <= bound)) throw new Shortfall(`${name}: expected at most ${bound}, found ${found}.`);
  return found;
}

/** Throws a `Shortfall` if the number is below its bound; returns it for the figures. */
export function expectAtLeast(name: string, found: number, bound: number): number {
  if (!(found >= bound)) throw new Shortfall(`${name}: expected at least ${bound}, found ${found}.`);
  return found;
}

/** Throws a `Shortfall` unless both are equal as JSON. */
export function expectEqual(name: string, found: unknown, expected: unknown): void {
  const [left, right] = [JSON.stringify(found) ?? 'undefined', JSON.stringify(expected) ?? 'undefined'];
  if (left !== right) throw new Shortfall(`${name}: expected ${right.slice(0, 400)}, found ${left.slice(0, 400)}.`);
}

/** Throws a `Shortfall` if the work takes longer than the limit. */
export async function within<T>(what: string, limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Shortfall(`${what}: expected within ${limitMs} ms, found later.`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Asks again until it holds; throws a `Shortfall` after the limit. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { limitMs = WAIT_MS, pauseMs = 50 } = {},
): Promise<void> {
  for (const end = performance.now() + limitMs; !(await holds()); await sleep(pauseMs)) {
    if (performance.now() > end) throw new Shortfall(`${what}: expected within ${limitMs} ms, found later.`);
  }
}

/** Puts what was being done in front of the sentence. */
export async function named<T>(label: string, work: Promise<T>): Promise<T> {
  return await work.catch((error: unknown) => {
    throw error instanceof Shortfall ? new Shortfall(`${label}: ${error.message}`) : error;
  });
}

/** Adds the counts to the sums of the same names. */
export function addTo<T extends Record<string, number>>(sums: T, counts: Readonly<Partial<T>>): void {
  for (const [key, count] of Object.entries(counts) as [keyof T, number][]) (sums[key] as number) += count;
}
