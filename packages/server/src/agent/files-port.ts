import type { MountPath } from '../domain/mount-path.ts';

export interface AgentFile {
  readonly kind: 'file';
  readonly path: MountPath;
  readonly size: number;
  readonly contentType: string;
  /** In milliseconds since 1970. */
  readonly modifiedAt: number;
}

export interface AgentFolder {
  readonly kind: 'folder';
  readonly path: MountPath;
}

export interface AgentFilePage {
  /** By name. */
  readonly entries: readonly (AgentFile | AgentFolder)[];
  readonly hasMore: boolean;
}

export interface OpenedAgentFile extends AsyncDisposable {
  readonly file: AgentFile;
  /** Read once; disposing gives the rest up. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** The files that one run's agent may look at: those of its integration, and no others. */
export interface AgentFiles {
  /** What lies right below a folder, behind the name `after` of it; null: there is no such folder. */
  list(folder: MountPath, after: string | null, limit: number): Promise<AgentFilePage | null>;
  /** All files below a folder, at any depth and in any order. */
  walk(folder: MountPath): AsyncIterable<Omit<AgentFile, 'contentType'>>;
  /** Null: there is no such file. */
  open(path: MountPath): Promise<OpenedAgentFile | null>;
}

/** The tools over them: every agent has these unless its definition says `files: false`. */
export const FILE_TOOLS = ['list_files', 'read_file', 'search_files'] as const;
