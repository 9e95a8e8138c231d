import { createHash } from 'node:crypto';

/** Providers accept names of at most this length. */
const MAX_LENGTH = 64;
const KEPT_LENGTH = 55;
const HASH_DIGITS = 8;

export interface NamedServer {
  readonly name: string;
  readonly prefix: string;
}

/**
 * Returns a name for a tool that no other tool of the agent has, and adds it to `taken`. Returns null if there is none: a
 * server has chosen a name on purpose that equals the last possible name.
 */
export function toolName({ name: server, prefix }: NamedServer, tool: string, taken: Set<string>): string | null {
  const whole = prefix === '' ? tool : `${prefix}_${tool}`;
  const valid = whole.replaceAll(/[^A-Za-z0-9_-]/gu, '_');
  const isUsable = valid === whole && valid !== '' && valid.length <= MAX_LENGTH && !taken.has(valid);
  const name = isUsable ? valid : `${valid.slice(0, KEPT_LENGTH)}_${hashOf(server, tool)}`;
  if (taken.has(name)) return null;
  taken.add(name);
  return name;
}

function hashOf(server: string, tool: string): string {
  return createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, HASH_DIGITS);
}
