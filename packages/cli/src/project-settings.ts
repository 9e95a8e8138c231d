import { parseEnv } from 'node:util';

type Settings = Readonly<Record<string, string | undefined>>;

/**
 * Returns the settings of a project's file that the environment does not set. The address of the server is left out if
 * the key comes from the environment: otherwise a foreign folder could send that key anywhere.
 */
export function projectSettings(text: string, env: Settings): Record<string, string> {
  const isSet = (name: string) => (env[name] ?? '') !== '';
  const found = Object.entries(parseEnv(text)).flatMap(([name, value]) =>
    value === undefined || isSet(name) || (name === 'RUNWIRE_URL' && isSet('RUNWIRE_API_KEY'))
      ? []
      : [[name, value] as const],
  );
  return Object.fromEntries(found);
}
