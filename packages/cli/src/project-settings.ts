import { parseEnv } from 'node:util';

type Settings = Readonly<Record<string, string | undefined>>;

/**
 * The settings of Runwire, and the keys, tokens and addresses of providers and tools. Other variables are left out:
 * `NODE_TLS_REJECT_UNAUTHORIZED`, for example, would let others read the environment's keys.
 */
const SETTING =
  /^(RUNWIRE_\w+|HOST|PORT|DATABASE_URL|S3_(BUCKET|ENDPOINT|UPLOADS)|AWS_(REGION|ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN)|(?!AWS_|NODE_)\w+_(API_KEY|BASE_URL|TOKEN))$/;

/** The key that is sent to an address, such as `OPENAI_API_KEY` to `OPENAI_BASE_URL`. */
function getKey(name: string): string {
  if (name === 'RUNWIRE_URL') return 'RUNWIRE_API_KEY';
  if (name === 'S3_ENDPOINT') return 'AWS_ACCESS_KEY_ID';
  return name.replace(/_BASE_URL$/, '_API_KEY');
}

/**
 * Returns the settings of a project's file that the environment does not set. An address is left out if its key comes
 * from the environment: otherwise a foreign folder could send that key anywhere.
 */
export function projectSettings(text: string, env: Settings): Record<string, string> {
  const isSet = (name: string) => (env[name] ?? '') !== '';
  const found = Object.entries(parseEnv(text)).flatMap(([name, value]) =>
    value === undefined || !SETTING.test(name) || isSet(name) || isSet(getKey(name)) ? [] : [[name, value] as const],
  );
  return Object.fromEntries(found);
}
