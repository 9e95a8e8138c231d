import {
  type FetchAllow,
  parseAddress,
  parseFetchAllow,
  parseRange,
  type Range,
  unmapped,
} from '@runwire/guarded-fetch/url-rules';
import { type MetricsConfig, SettingRefused } from './config.ts';

/** Returns a setting's text; null if it is not set. */
export type ReadSetting = (name: string) => string | null;

export function readPort(name: string, text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    throw new SettingRefused(`${name} is \`${text}\`; set it to a whole number from 0 to 65535.`);
  }
  return port;
}

/** `RUNWIRE_METRICS_PORT` and `RUNWIRE_METRICS_HOST`. Returns null if metrics have no listener of their own. */
export function readMetrics(read: ReadSetting, apiPort: number): MetricsConfig | null {
  const text = read('RUNWIRE_METRICS_PORT');
  const host = read('RUNWIRE_METRICS_HOST');
  if (text === null) {
    if (host === null) return null;
    throw new SettingRefused('RUNWIRE_METRICS_HOST is set but RUNWIRE_METRICS_PORT is not; set both, or unset it.');
  }
  const port = readPort('RUNWIRE_METRICS_PORT', text);
  // With 0 the system chooses a free port for each listener.
  if (port !== 0 && port === apiPort) {
    throw new SettingRefused(`RUNWIRE_METRICS_PORT is \`${text}\`, the same as PORT; set it to another number.`);
  }
  return Object.freeze({ host: host ?? '127.0.0.1', port });
}

const RECEIVERS = { http: true, purpose: 'webhooks' } as const;
const NO_RECEIVERS = parseFetchAllow('', 'RUNWIRE_WEBHOOK_ALLOW', RECEIVERS);
const NOTHING_ALLOWED = parseFetchAllow('', 'RUNWIRE_FETCH_ALLOW');

/** `RUNWIRE_FETCH_ALLOW`: hosts other than the public internet from which files may be fetched; empty by default. */
export function readFetchAllow(read: ReadSetting): FetchAllow {
  try {
    const text = read('RUNWIRE_FETCH_ALLOW');
    return text === null ? NOTHING_ALLOWED : parseFetchAllow(text, NOTHING_ALLOWED.setting);
  } catch (error) {
    throw new SettingRefused(`RUNWIRE_FETCH_ALLOW ${(error as Error).message}.`);
  }
}

/** `RUNWIRE_WEBHOOK_ALLOW`: receivers of webhooks other than the public internet; http is allowed there. */
export function readWebhookAllow(read: ReadSetting): FetchAllow {
  const { setting } = NO_RECEIVERS;
  try {
    const text = read(setting);
    return text === null ? NO_RECEIVERS : parseFetchAllow(text, setting, RECEIVERS);
  } catch (error) {
    throw new SettingRefused(`${setting} ${(error as Error).message}.`);
  }
}

/** `RUNWIRE_TRUSTED_PROXIES`: the proxies whose `X-Forwarded-For` is believed; none by default. */
export function readTrustedProxies(read: ReadSetting): readonly Range[] {
  const parts = (read('RUNWIRE_TRUSTED_PROXIES') ?? '').split(/[\s,]+/).filter((part) => part !== '');
  return parts.map((part) => {
    const bits = parseAddress(part)?.bits;
    const range = parseRange(bits === undefined ? part : `${part}/${bits}`);
    // Addresses in IPv4-mapped form are compared as IPv4, so an entry in that form would never match.
    if (range !== null && unmapped(range.base) === range.base) return range;
    throw new SettingRefused(
      `RUNWIRE_TRUSTED_PROXIES has the entry \`${part}\`, which is neither an address nor an address range; use entries such as 10.1.2.3, 10.1.0.0/16 or fd00::/8.`,
    );
  });
}

/** Reads an http or https address. The result has no slash at its end. */
export function readUrl(read: ReadSetting, name: string): string | null {
  const text = read(name);
  if (text === null) return null;
  const problem = urlProblem(URL.parse(text));
  // The value is not repeated, because an address may contain a password or a key.
  if (problem !== null) {
    throw new SettingRefused(
      `${name} ${problem}; set it to a plain http or https address, such as https://agents.example.com.`,
    );
  }
  return text.replace(/\/+$/, '');
}

function urlProblem(url: URL | null): string | null {
  if (url === null || !/^https?:$/.test(url.protocol)) return 'is not an http or https address';
  if (url.username !== '' || url.password !== '') return 'contains a user name or a password';
  return url.search === '' && url.hash === '' ? null : 'has a query or a fragment';
}
