import { createHash } from 'node:crypto';

/** Providers accept names of at most this length. */
const MAX_LENGTH = 64;
const KEPT_LENGTH = 55;
const HASH_DIGITS = 8;
const INVALID = /[^A-Za-z0-9_-]/gu;

export interface NamedServer {
  readonly name: string;
  readonly prefix: string;
}

/**
 * Returns a name for a tool that no other tool of the agent has, and adds it to `taken`. Returns null if there is none: a
 * server has chosen a name on purpose that equals the last possible name.
 */
export function toolName(server: NamedServer, tool: string, taken: Set<string>): string | null {
  const name = possibleNames(server, tool).find((one) => isUsable(one) && !taken.has(one));
  if (name === undefined) return null;
  taken.add(name);
  return name;
}

/** The names that a tool can have: which one it gets depends on the agent's other tools. */
export function possibleNames(server: NamedServer, tool: string): readonly string[] {
  const whole = wholeName(server, tool);
  const valid = whole.replaceAll(INVALID, '_');
  return [whole, `${valid.slice(0, KEPT_LENGTH)}_${computeHash(server.name, tool)}`];
}

/** The tool's name if it is valid and no other tool has it. */
export function wholeName({ prefix }: NamedServer, tool: string): string {
  return prefix === '' ? tool : `${prefix}_${tool}`;
}

const isUsable = (name: string) => name !== '' && name.length <= MAX_LENGTH && name.search(INVALID) === -1;

function computeHash(server: string, tool: string): string {
  return createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, HASH_DIGITS);
}
