import { SettingRefused } from './config.ts';
import { DEFAULT_LIMITS, LIMIT_SETTINGS, type Limits } from './limits.ts';

export function readLimits(env: Readonly<Record<string, string | undefined>>): Limits {
  const given: Partial<Record<keyof Limits, number>> = {};
  for (const { limit, setting, min, max, scale = 1 } of LIMIT_SETTINGS) {
    const text = env[setting];
    if (text === undefined || text === '') continue;
    const value = Number(text);
    if (!/^\d{1,16}$/.test(text) || value < min || value > max) {
      throw new SettingRefused(`${setting} is \`${text}\`; set it to a whole number from ${min} to ${max}.`);
    }
    given[limit] = value * scale;
  }
  const limits = { ...DEFAULT_LIMITS, ...given };
  // If there are several owners, each has half of the bytes of all bodies: one body must fit into a half.
  return { ...limits, bodiesBytes: Math.max(limits.bodiesBytes, 2 * limits.bodyBytes) };
}
