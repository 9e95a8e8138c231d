import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { PROVIDERS_FILE } from '../domain/model/provider-entry.ts';
import { type Config, SettingRefused } from './config.ts';
import type { ReadSetting } from './read-network.ts';

/** Reads the folder of agencies, which must exist. */
export function readAgencies(read: ReadSetting): Pick<Config, 'agenciesDir' | 'agenciesWatch'> {
  const folder = read('RUNWIRE_AGENCIES_DIR');
  const watch = read('RUNWIRE_AGENCIES_WATCH') ?? 'false';
  if (watch !== 'true' && watch !== 'false') {
    throw new SettingRefused('RUNWIRE_AGENCIES_WATCH must be `true` or `false`.');
  }
  if (folder === null) {
    if (watch === 'false') return { agenciesDir: null, agenciesWatch: false };
    throw new SettingRefused(
      'RUNWIRE_AGENCIES_WATCH is set but RUNWIRE_AGENCIES_DIR is not; set it, or unset the other.',
    );
  }
  const agenciesDir = resolve(folder);
  if (statSync(agenciesDir, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new SettingRefused(
      `RUNWIRE_AGENCIES_DIR is \`${folder}\`, which is not a folder; create it, or set it to another.`,
    );
  }
  if (['agency.yaml', 'agency.ts'].some((file) => existsSync(join(agenciesDir, file)))) {
    throw new SettingRefused(
      `RUNWIRE_AGENCIES_DIR is \`${folder}\`, which is an agency itself; set it to the folder above, \`${dirname(agenciesDir)}\`.`,
    );
  }
  return { agenciesDir, agenciesWatch: watch === 'true' };
}

/** True if `providers.yaml` is beside the agencies. */
export function hasProvidersFile(agenciesDir: string | null): boolean {
  return agenciesDir !== null && existsSync(join(agenciesDir, PROVIDERS_FILE));
}
