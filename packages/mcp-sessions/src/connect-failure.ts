import { errorText } from './error-text.ts';
import type { McpAddress } from './mcp-address.ts';

/** Why a server could not be connected and what to do, in one sentence without secrets. */
export function connectFailure(error: unknown, address: McpAddress): string {
  return `${errorText(error, address).replace(/[.\s]+$/, '')}; ${advice(error, address)}.`;
}

function advice(error: unknown, address: McpAddress): string {
  if (address.kind === 'http') {
    const isRefused = [401, 403].includes(readStatus(error) ?? 0) || readClassName(error) === 'UnauthorizedError';
    return isRefused ? 'check `headers` or `oauth` of the server' : 'check `url`, and that the server runs';
  }
  const { command } = address;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT')
    return `the program \`${command}\` or the folder \`cwd\` does not exist here; install it, or correct \`command\` or \`cwd\``;
  if (code === 'EACCES') return `allow the user of Runwire to execute \`${command}\``;
  return `start \`${command}\` by hand in the folder of the agency to see why, and correct \`command\`, \`args\` or \`env\``;
}

/** The SDK's classes are not loaded here: it costs 0.2 s of CPU, and most starts need no MCP server. */
const readClassName = (error: unknown) => (error instanceof Error ? error.constructor.name : '');

function readStatus(error: unknown): number | undefined {
  return (error as { readonly data?: { readonly status?: number } } | null)?.data?.status;
}
