import { StartRefused } from '../domain/start-refused.ts';

/** A setting that cannot be used. */
export class SettingRefused extends StartRefused {
  override readonly name = 'SettingRefused';
}
