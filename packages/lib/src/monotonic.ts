/**
 * Milliseconds of the monotonic clock. The value is the same in all threads of a process, and has no meaning outside of
 * it.
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
