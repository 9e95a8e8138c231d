import type { McpAddress } from './mcp-address.ts';

const MAX_ERROR_CHARACTERS = 300;
/** Shorter values occur in other texts. */
const MIN_SECRET_CHARACTERS = 4;

/** An error's message in one short line, without the address's secrets. */
export function errorText(error: unknown, address: McpAddress): string {
  const own = error instanceof Error ? withoutBody(error) : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  const whole = cause === '' || own.includes(cause) ? own : `${own}: ${cause}`;
  let text = whole.replaceAll(/\s+/g, ' ').trim();
  for (const secret of getSecrets(address)) text = text.replaceAll(secret, '***');
  return text.length > MAX_ERROR_CHARACTERS ? `${text.slice(0, MAX_ERROR_CHARACTERS)}…` : text;
}

/** The SDK repeats an answer's body in its errors. A body of another party may contain anything. */
function withoutBody(error: Error): string {
  const { data } = error as Error & { readonly data?: { readonly status?: unknown; readonly text?: unknown } };
  if (typeof data?.text === 'string' && data.text !== '' && error.message.includes(data.text)) {
    return `The server answered with status ${data.status}.`;
  }
  if (error instanceof SyntaxError) return 'The server sent an answer that is not JSON.';
  return error.message.replace(/Invalid OAuth error response: .*/s, 'The authorization server sent no OAuth error.');
}

function getSecrets(address: McpAddress): readonly string[] {
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
