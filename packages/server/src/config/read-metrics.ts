import type { MetricsConfig } from './config.ts';
import { readPort } from './read-port.ts';
import { SettingRefused } from './setting-refused.ts';

type ReadSetting = (name: string) => string | null;

/** `RUNWIRE_METRICS_PORT` and `RUNWIRE_METRICS_HOST`. Null: metrics have no listener of their own. */
export function readMetrics(read: ReadSetting, apiPort: number): MetricsConfig | null {
  const text = read('RUNWIRE_METRICS_PORT');
  const host = read('RUNWIRE_METRICS_HOST');
  if (text === null) {
    if (host === null) return null;
    throw new SettingRefused('RUNWIRE_METRICS_HOST is set but RUNWIRE_METRICS_PORT is not; set both, or unset it.');
  }
  const port = readPort('RUNWIRE_METRICS_PORT', text);
  // 0 takes a free one for each of both.
  if (port !== 0 && port === apiPort) {
    throw new SettingRefused(`RUNWIRE_METRICS_PORT is \`${text}\`, the same as PORT; set it to another number.`);
  }
  return Object.freeze({ host: host ?? '127.0.0.1', port });
}
