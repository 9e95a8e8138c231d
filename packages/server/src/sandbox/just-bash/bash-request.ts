import type { SandboxCommand } from '../../agent/sandbox-port.ts';

/** What the server sends to the process that interprets a command. */
export type BashRequest = SandboxCommand;

export interface BashResult {
  readonly exitCode: number;
  /** True if the command was ended because it printed too much. */
  readonly printedTooMuch: boolean;
}
