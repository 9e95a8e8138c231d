import { findProgram } from '@runwire/lib/find-program.ts';
import type { LoadedAgency } from '../agencies/loaded-agency.ts';
import type { Secrets } from '../config/config.ts';

/** The program of an MCP server. */
export interface ServerProgram {
  readonly server: string;
  readonly command: string;
  /** Why the program cannot be started and what to do. Null if it can. */
  readonly problem: string | null;
}

const NO_RUN = { date: '', member: null, userContext: undefined, state: {} };

/** Looks for the programs that the MCP servers of an agency need, without starting them. */
export function checkPrograms({ id, mcp }: LoadedAgency, { variable }: Secrets): ServerProgram[] {
  return mcp.flatMap(({ name: server, address }): ServerProgram[] => {
    const program = address(NO_RUN);
    if (program.kind !== 'stdio') return [];
    const { command, env, cwd } = program;
    const file = findProgram(command, env.PATH ?? variable('PATH') ?? '', cwd ?? '.');
    return [{ server, command, problem: file === null ? missingSentence(id, server, command) : null }];
  });
}

function missingSentence(agency: string, server: string, command: string): string {
  const missing = command.includes('/') ? 'is not a file that this user can execute' : 'is not on the PATH';
  const needs = `The MCP server ${server} of the agency ${agency} needs the program \`${command}\`, which ${missing}`;
  return `${needs}; install it, or write the path of a program in \`command\`.`;
}
