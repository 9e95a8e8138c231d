import { SettingRefused } from './setting-refused.ts';

/** `RUNWIRE_SHARED_DISK`: whether the data folder is one disk that all nodes see. */
export function readSharedDisk(read: (name: string) => string | null): boolean {
  const text = read('RUNWIRE_SHARED_DISK');
  if (text === null) return false;
  if (text !== 'true' && text !== 'false') {
    throw new SettingRefused('RUNWIRE_SHARED_DISK must be true or false; unset it where one server is enough.');
  }
  if (read('DATABASE_URL') === null) {
    throw new SettingRefused('RUNWIRE_SHARED_DISK is set but DATABASE_URL is not; set both, or unset it.');
  }
  return text === 'true';
}
