import { setTimeout as sleep } from 'node:timers/promises';

/** How long a proof or a test waits for something that must happen. */
export const WAIT_MS = 60_000;

/** The promise was not kept. The sentence names what was expected and what was found. */
export class Shortfall extends Error {
  override readonly name = 'Shortfall';
}

/** The machine or the clone lacks something that a proof needs. The sentence names it. */
export class LeftOut extends Error {
  override readonly name = 'LeftOut';
}

/* These checks throw a `Shortfall` if a value is wrong, and return it for the figures. */
function expectThat(name: string, found: number, expected: string, holds: boolean): number {
  if (!holds) throw new Shortfall(`${name}: expected ${expected}, found ${found}.`);
  return found;
}
export const expectAtMost = (name: string, found: number, bound: number) =>
  expectThat(name, found, `at most ${bound}`, found <= bound);
export const expectAtLeast = (name: string, found: number, bound: number) =>
  expectThat(name, found, `at least ${bound}`, found >= bound);

/** Both must be equal as JSON. */
export function expectEqual<T>(name: string, found: T, expected: unknown): T {
  const [left, right] = [JSON.stringify(found) ?? 'undefined', JSON.stringify(expected) ?? 'undefined'];
  if (left !== right) throw new Shortfall(`${name}: expected ${right.slice(0, 400)}, found ${left.slice(0, 400)}.`);
  return found;
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

const MOST_PAUSE_MS = 100;

/** How long a wait pauses before it looks again. A look is often a request, so long waits look less often. */
export const pauseMsAfter = (waitedMs: number, leastMs: number): number =>
  Math.max(leastMs, Math.min(waitedMs / 8, MOST_PAUSE_MS));

/** Asks again until it holds; throws a `Shortfall` after the limit. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { limitMs = WAIT_MS, pauseMs }: { readonly limitMs?: number; readonly pauseMs?: number } = {},
): Promise<void> {
  const since = performance.now();
  const pause = () => sleep(pauseMs ?? pauseMsAfter(performance.now() - since, 50));
  for (; !(await holds()); await pause()) {
    if (performance.now() > since + limitMs)
      throw new Shortfall(`${what}: expected within ${limitMs} ms, found later.`);
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
