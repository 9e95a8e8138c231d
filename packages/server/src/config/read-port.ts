import { SettingRefused } from './setting-refused.ts';

export function readPort(name: string, text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    throw new SettingRefused(`${name} is \`${text}\`; set it to a whole number from 0 to 65535.`);
  }
  return port;
}
