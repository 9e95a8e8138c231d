/** What one command may use. The server ends the command when it exceeds one of them. */
export interface SandboxLimits {
  readonly seconds: number;
  /** Address space of one process. */
  readonly processMemoryMib: number;
  /** Memory of all processes of the command. */
  readonly memoryMib: number;
  readonly processes: number;
  /** Size of one file that the command writes. */
  readonly fileBytes: number;
  /** Size and number of all files in the command's folder, and of deleted files that it keeps open. */
  readonly folderBytes: number;
  readonly folderEntries: number;
  readonly outputBytes: number;
}

export interface SandboxCommand {
  /** Text for `bash`, at most 100 000 bytes. */
  readonly command: string;
  /** The absolute path of the folder on this machine that the command sees as `/app/mnt`. */
  readonly folder: string;
  /** A folder on this machine that the command sees read-only as `/app/agency`; null if there is none. */
  readonly agencyFolder: string | null;
  /**
   * The folder below `/app/mnt` in which the command starts, without slashes at its ends. `folder` contains it and should
   * contain nothing else: not every sandbox hides the rest.
   */
  readonly workingFolder: string;
  readonly limits: SandboxLimits;
}

/**
 * The limits for which the server itself ends a command. The kernel enforces the others, as failed calls. `disk`: the disk
 * with the command's folder is nearly full. `interpreter`: a limit of a sandbox that interprets bash itself, such as the
 * depth of calls; the output names it.
 */
export type SandboxLimit = 'seconds' | 'memory' | 'folder' | 'disk' | 'output' | 'interpreter';

/** How a command ended. In all cases none of its processes exists any more. */
export type SandboxEnd =
  | { readonly end: 'exited'; readonly exitCode: number }
  | { readonly end: 'limit'; readonly limit: SandboxLimit }
  | { readonly end: 'aborted' };

/** The user and group that must own a command's folder, and everything in it. */
export interface SandboxUser {
  readonly uid: number;
  readonly gid: number;
}

/** What `/readyz` shows. */
export type SandboxInfo =
  | {
      readonly kind: 'bubblewrap';
      /** True if the command has its own `/proc`. It has none if the machine forbids to mount it. */
      readonly proc: boolean;
      readonly memory: 'watch';
    }
  | { readonly kind: 'just-bash' }
  | { readonly kind: 'exec' }
  | { readonly kind: 'off' };

/** Gets the bytes of stdout and stderr in the order of their arrival, at most `outputBytes` of them. */
export type OnSandboxOutput = (bytes: Uint8Array) => void;

/** Runs commands that a model wrote. They reach nothing but their folder. */
export interface Sandbox {
  readonly info: SandboxInfo;
  /** Null if the user of this process owns the command folders. */
  readonly owner: SandboxUser | null;
  /** False if all output arrives after the command has ended. */
  readonly streamsOutput: boolean;
  /** False if the sandbox does not itself limit the size of files, the processes and one process's memory. */
  readonly limitsProcesses: boolean;
  /**
   * Resolves after all processes of the command have ended. Rejects with a `SandboxFailed` if the command could not be
   * started.
   */
  run(command: SandboxCommand, onOutput: OnSandboxOutput, signal: AbortSignal): Promise<SandboxEnd>;
}

/** The sandbox itself failed. The message is a sentence for the operator. */
export class SandboxFailed extends Error {
  override readonly name = 'SandboxFailed';
}
