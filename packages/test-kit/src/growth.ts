import assert from 'node:assert/strict';

const TRIES = 10;
/** On some machines the CPU clock has a resolution of a few milliseconds. */
const MEASURABLE_MICROSECONDS = 10_000;

/** Eight times the input takes about 8 times as long if the time is linear in the size, and 64 times if quadratic. */
const FACTOR = 8;
const MOST_LINEAR_GROWTH = 22;

/** Asserts that the CPU time of `work` is linear in its input's size. */
export function assertLinear<T>(
  name: string,
  getInput: (size: number) => T,
  work: (input: T) => unknown,
  size: number,
): void {
  const [small, large] = [getInput(size), getInput(FACTOR * size)];
  const unknown = { small: Number.POSITIVE_INFINITY, large: Number.POSITIVE_INFINITY };
  let times = 1;
  // The least of several tries: other work on the machine and garbage collection only add to a time.
  let least = unknown;
  for (let tries = 0; tries < TRIES; ) {
    const smallMicroseconds = toMicroseconds(work, small, times);
    // Also later: the compiler makes the work faster while it is repeated.
    if (smallMicroseconds < MEASURABLE_MICROSECONDS) {
      times *= 2;
      least = unknown;
      continue;
    }
    tries += 1;
    least = {
      small: Math.min(least.small, smallMicroseconds),
      large: Math.min(least.large, toMicroseconds(work, large, times)),
    };
    if (least.large / least.small < MOST_LINEAR_GROWTH) return;
  }
  assert.fail(`${name}: ${FACTOR} times the input takes ${least.large / least.small} times as long`);
}

function toMicroseconds<T>(work: (input: T) => unknown, input: T, times: number): number {
  const start = process.threadCpuUsage();
  for (let i = 0; i < times; i += 1) work(input);
  const { user, system } = process.threadCpuUsage(start);
  return user + system;
}
