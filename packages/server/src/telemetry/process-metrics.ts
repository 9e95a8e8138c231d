import { readdirSync, readFileSync } from 'node:fs';
import { type Metric, Reading } from './exposition.ts';

/** Figures of this process, under the names that other Prometheus clients and their dashboards use. */
export function processMetrics(): Metric[] {
  return [
    new Reading('counter', 'process_cpu_seconds_total', 'Processor time, user and system.', () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000_000;
    }),
    new Reading('gauge', 'process_resident_memory_bytes', 'Memory in use, as the operating system counts it.', () =>
      process.memoryUsage.rss(),
    ),
    new Reading('gauge', 'process_start_time_seconds', 'When the process started, in seconds since 1970.', () =>
      Math.round(performance.timeOrigin / 1000),
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
        : [new Reading('gauge', 'process_max_fds', 'The most that the operating system allows.', () => Number(limit))]),
    ];
  } catch {
    return [];
  }
}
