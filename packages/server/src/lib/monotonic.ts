/** Milliseconds of the machine's monotonic clock: the same in all threads of a process, and to nobody else. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
