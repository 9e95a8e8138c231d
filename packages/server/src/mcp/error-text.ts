import type { McpAddress } from '../agent/mcp-port.ts';

const MAX_ERROR_CHARACTERS = 300;
/** Shorter values occur in other texts. */
const MIN_SECRET_CHARACTERS = 4;

/** The message of an error in one short line, without the secrets of the address. */
export function errorText(error: unknown, address: McpAddress): string {
  const own = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  const whole = cause === '' || own.includes(cause) ? own : `${own}: ${cause}`;
  let text = whole.replaceAll(/\s+/g, ' ').trim();
  for (const secret of secretsOf(address)) text = text.replaceAll(secret, '***');
  return text.length > MAX_ERROR_CHARACTERS ? `${text.slice(0, MAX_ERROR_CHARACTERS)}…` : text;
}

function secretsOf(address: McpAddress): readonly string[] {
  const values =
    address.kind === 'http'
      ? [...Object.values(address.headers), address.oauth?.clientSecret ?? '']
      : Object.values(address.env);
  const shown = [...values, ...address.secrets].map((value) => value.replaceAll(/\s+/g, ' ').trim());
  // The token of `Bearer <token>` is secret without its scheme too.
  const all = shown.flatMap((value) => [value, ...value.split(' ')]);
  // The longest first: another value may be a part of it.
  return all
    .filter((value) => value.length >= MIN_SECRET_CHARACTERS && value !== 'Bearer' && value !== 'Basic')
    .sort((a, b) => b.length - a.length);
}
