const TRIES = 3;
/** The clock of a processor ticks every few milliseconds on some machines. */
const MEASURABLE_MICROSECONDS = 10_000;

/**
 * How many times as much processor four times the input takes, each measured as the least of a few tries in one run: about 4
 * where time grows with the size, 16 where it grows with its square.
 */
export function growthOf<T>(inputOf: (size: number) => T, work: (input: T) => unknown, size: number): number {
  const [small, large] = [inputOf(size), inputOf(4 * size)];
  let times = 1;
  // It is compiled by then, too.
  while (microsecondsOf(work, small, times) < MEASURABLE_MICROSECONDS) times *= 2;
  const least = (input: T) => Math.min(...Array.from({ length: TRIES }, () => microsecondsOf(work, input, times)));
  return least(large) / least(small);
}

function microsecondsOf<T>(work: (input: T) => unknown, input: T, times: number): number {
  const start = process.threadCpuUsage();
  for (let i = 0; i < times; i += 1) work(input);
  const { user, system } = process.threadCpuUsage(start);
  return user + system;
}

/** Between the two. */
export const MAX_LINEAR_GROWTH = 9;
