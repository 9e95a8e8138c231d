import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second in `/proc`: `getconf CLK_TCK`, 100 on every Linux that Node runs on. */
const TICK_MS = 10;

interface Times {
  readonly ownMs: number;
  /** The CPU time of ended children that were waited for. */
  readonly endedChildrenMs: number;
}

function times(pid: number): Times {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name is in parentheses and may contain anything. utime, stime, cutime and cstime are fields 14 to 17 of the
  // line.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15).map(Number);
  return { ownMs: (user + system) * TICK_MS, endedChildrenMs: (childrenUser + childrenSystem) * TICK_MS };
}

/** CPU time of a process with all its threads, user and system. */
export function cpuMs(pid: number): number {
  return times(pid).ownMs;
}

/** Like `cpuMs`, but exact. It misses threads that have ended, so it is for short times. */
export function exactCpuMs(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + exactMs(`${pid}/task/${thread}`), 0);
}

/**
 * Returns the CPU time of a process and its children, including ended ones. None of them has threads, so it is exact.
 */
export function familyCpuMs(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  const { endedChildrenMs } = times(pid);
  return [String(pid), ...children].reduce((sum, member) => sum + exactMs(member), endedChildrenMs);
}

function exactMs(pid: string): number {
  try {
    const [nanoseconds] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ', 1);
    return Number(nanoseconds) / 1e6;
  } catch (error) {
    // A process that has just ended is missing now and is counted the next time.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || (error as NodeJS.ErrnoException).code === 'ESRCH')
      return 0;
    throw error;
  }
}

/** Returns the CPU time of the whole machine, all processors together, without idle and waiting time. */
export function machineCpuMs(): number {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.trim().split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq) * TICK_MS;
}
