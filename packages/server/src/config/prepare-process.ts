import { type CheckedSettings, type Environment, readConfig } from './read-config.ts';

export type { Environment } from './read-config.ts';

/**
 * Reads the settings, and sets the umask: no other user of the machine can read what this process writes, even in a
 * folder that others may enter (`contract-1-umask`).
 */
export function prepareProcess(env: Environment): CheckedSettings {
  process.umask(0o077);
  return readConfig(env);
}
