const TRIES = 4;
/** On some machines the CPU clock has a resolution of a few milliseconds. */
const MEASURABLE_MICROSECONDS = 10_000;

/**
 * Returns how many times more CPU time four times the input takes. Each time is the minimum of a few tries in one
 * process. The result is about 4 if the time is linear in the size, and 16 if it is quadratic.
 */
export function growthOf<T>(inputOf: (size: number) => T, work: (input: T) => unknown, size: number): number {
  const [small, large] = [inputOf(size), inputOf(4 * size)];
  let times = 1;
  while (microsecondsOf(work, small, times) < MEASURABLE_MICROSECONDS) times *= 2;
  // In turns: on a busy machine V8 optimizes the code late, and then it must be late for both.
  const tries = Array.from({ length: TRIES }, () => [large, small].map((input) => microsecondsOf(work, input, times)));
  const least = (index: number) => Math.min(...tries.map((measured) => measured[index] ?? Number.POSITIVE_INFINITY));
  return least(0) / least(1);
}

function microsecondsOf<T>(work: (input: T) => unknown, input: T, times: number): number {
  const start = process.threadCpuUsage();
  for (let i = 0; i < times; i += 1) work(input);
  const { user, system } = process.threadCpuUsage(start);
  return user + system;
}

/** The limit is between the two. */
export const MAX_LINEAR_GROWTH = 9;
