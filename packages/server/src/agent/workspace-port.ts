import type { SandboxEnd } from '@runwire/sandbox';
import type { MountPath } from '../domain/file/mount-path.ts';
import type { Publication } from './publication.ts';

/** An agent's tools with `sandbox: true`. */
export const SANDBOX_TOOLS = ['write_file', 'run_command'] as const;

export const WORKSPACE_LIMITS = {
  /** The size of a file that `write_file` writes. */
  writtenBytes: 1024 * 1024,
  commandBytes: 100_000,
  maxSeconds: 300,
  /** The number of files that one command gets, and that it may change. */
  files: 5000,
  /** The size of the files that one command gets. */
  fileBytes: 256 * 1024 * 1024,
} as const;

export interface WorkspaceCommand {
  readonly command: string;
  /** Null for the folder that the agent works in if it names none. */
  readonly folder: MountPath | null;
  readonly seconds: number;
}

/** Something that a command left in its folder and that does not become a file. */
export interface OmittedEntry {
  /** The whole path; characters that are not UTF-8 are replaced. */
  readonly path: string;
  /** The rest of a sentence that begins with the path. */
  readonly reason: string;
}

/** How a command ended. `changes`: it ended by itself, and changed more files than can be published together. */
export type CommandEnd = SandboxEnd | { readonly end: 'limit'; readonly limit: 'changes' };

export interface CommandReport {
  readonly end: CommandEnd;
  /** The start and the end of it if it is long. */
  readonly output: CommandOutput;
  readonly leftOut: readonly OmittedEntry[];
  /** Null if no file changed, or if the command did not end by itself. */
  readonly publication: Publication | null;
}

export interface CommandOutput {
  readonly head: string;
  /** How many bytes between the two are left out; 0 if `tail` continues `head`. */
  readonly leftOutBytes: number;
  readonly tail: string;
}

/** Gets the last lines of the output of a command, each time that output arrives. */
export type OnLastLines = (text: string) => void;

/** Changes the files that the agent of a run sees. */
export interface Workspace {
  /** Runs a command over a copy of its folder. Throws `WorkspaceRefused`. */
  run(command: WorkspaceCommand, onLastLines: OnLastLines, signal: AbortSignal): Promise<CommandReport>;
  /** Prepares one file with this content. Resolves to null if the file has it already. Throws `WorkspaceRefused`. */
  write(path: MountPath, content: Uint8Array): Promise<Publication | null>;
}

/** The call cannot be made. The message is a text for the model. */
export class WorkspaceRefused extends Error {
  override readonly name = 'WorkspaceRefused';
}
