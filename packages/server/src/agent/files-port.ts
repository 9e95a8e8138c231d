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
  /** Sorted by name. */
  readonly entries: readonly (AgentFile | AgentFolder)[];
  readonly hasMore: boolean;
}

export interface OpenedAgentFile extends AsyncDisposable {
  readonly file: AgentFile;
  /** Can be read once. Disposing stops the read. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** The files that the agent of a run may read: only those of its integration. */
export interface AgentFiles {
  /** Lists the entries directly in a folder, after the name `after`. Resolves to null if the folder does not exist. */
  list(folder: MountPath, after: string | null, limit: number): Promise<AgentFilePage | null>;
  /** Yields all files below a folder, at any depth and in any order. */
  walk(folder: MountPath): AsyncIterable<Omit<AgentFile, 'contentType'>>;
  /** Resolves to null if the file does not exist. */
  open(path: MountPath): Promise<OpenedAgentFile | null>;
}

/** The file tools. An agent has all of them unless it names some in `tools` or sets `files: false`. */
export const FILE_TOOLS = ['list_files', 'read_file', 'search_files'] as const;
