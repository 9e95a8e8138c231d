import type { SandboxCommand, SandboxLimit } from '../sandbox.ts';

/** What the server sends to the process that interprets a command. */
export interface BashRequest extends SandboxCommand {
  /** False if just-bash's own commands are not replaced. */
  readonly hasOwnCommands: boolean;
}

export interface BashResult {
  readonly exitCode: number;
  /** The interpreter's limit at which the command was ended; null if it ended by itself. */
  readonly limit: Extract<SandboxLimit, 'output' | 'interpreter'> | null;
}
