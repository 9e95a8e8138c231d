import { existsSync, readFileSync } from 'node:fs';

const STAT = '/proc/self/stat';
/** Linux counts in hundredths of a second here, on every machine. */
const TICKS_PER_SECOND = 100;

/** CPU seconds of all child processes that have ended, and of theirs. Returns null if the system does not count them. */
export function childrenSeconds(): number | null {
  if (!existsSync(STAT)) return null;
  // The name of the process is in brackets and may contain spaces.
  const fields = readFileSync(STAT, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}
