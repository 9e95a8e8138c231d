import { readdirSync, readFileSync } from 'node:fs';
import { type Metric, Reading } from './exposition.ts';

/** Figures of this process, under the names that other Prometheus clients and their dashboards use. */
export function processMetrics(): Metric[] {
  return [
    new Reading('counter', 'process_cpu_seconds_total', 'User and system CPU time.', () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000_000;
    }),
    new Reading('gauge', 'process_resident_memory_bytes', 'Resident memory, as counted by the operating system.', () =>
      process.memoryUsage.rss(),
    ),
    new Reading(
      'gauge',
      'process_start_time_seconds',
      'Start time of the process, in seconds since 1970-01-01 UTC.',
      () => Math.round(performance.timeOrigin / 1000),
    ),
    ...fileDescriptors(),
  ];
}

/** Only Linux shows them without starting another process. */
function fileDescriptors(): Metric[] {
  const open = () => readdirSync('/proc/self/fd').length;
  try {
    open();
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return [
      new Reading('gauge', 'process_open_fds', 'Open file descriptors: connections and files.', open),
      ...(limit === undefined
        ? []
        : [new Reading('gauge', 'process_max_fds', 'Maximum number of open file descriptors.', () => Number(limit))]),
    ];
  } catch {
    return [];
  }
}
