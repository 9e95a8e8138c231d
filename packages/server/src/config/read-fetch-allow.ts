import { ALLOW_NOTHING, type FetchAllow, parseFetchAllow } from '../lib/url-rules/fetch-allow.ts';
import { SettingRefused } from './setting-refused.ts';

/** `RUNWIRE_FETCH_ALLOW`: what files may be fetched from besides the public internet; empty by default. */
export function readFetchAllow(read: (name: string) => string | null): FetchAllow {
  const text = read('RUNWIRE_FETCH_ALLOW');
  if (text === null) return ALLOW_NOTHING;
  try {
    return parseFetchAllow(text);
  } catch (error) {
    throw new SettingRefused(`RUNWIRE_FETCH_ALLOW ${(error as Error).message}.`);
  }
}
