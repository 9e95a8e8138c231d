import type { AgentPath } from '../domain/file/agency-path.ts';
import type { MountPath } from '../domain/file/mount-path.ts';

export interface AgentFile<Path = AgentPath> {
  readonly kind: 'file';
  readonly path: Path;
  readonly size: number;
  readonly contentType: string;
  /** In milliseconds since 1970. */
  readonly modifiedAt: number;
}

export interface AgentFolder<Path = AgentPath> {
  readonly kind: 'folder';
  readonly path: Path;
}

export interface AgentFilePage<Path = AgentPath> {
  /** Sorted by name. */
  readonly entries: readonly (AgentFile<Path> | AgentFolder<Path>)[];
  readonly hasMore: boolean;
}

/** What a file is, judged by its first bytes. */
export type AgentFileKind =
  /** Its first bytes are UTF-8. */
  | { readonly is: 'text' }
  /** It must be converted to text. */
  | { readonly is: 'document' }
  | {
      readonly is: 'image';
      readonly mediaType: string;
      /** In pixels; null if it is not at the start of the file. */
      readonly size: { readonly width: number; readonly height: number } | null;
    }
  /** It has no text. */
  | { readonly is: 'other' };

/** A document's text, or the rest of a sentence about why it has none. */
export type DocumentText = (
  | {
      /** With a line `[Page 1]` before the first page, and so on, if the document has pages. */
      readonly text: string;
    }
  | { readonly problem: string }
) & {
  /** How much was read for it: the document, its stored text, or nothing. */
  readonly readBytes: number;
};

export interface OpenedAgentFile extends AsyncDisposable {
  readonly file: AgentFile;
  readonly kind: AgentFileKind;
  /** Can be read once. Disposing stops the read. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /**
   * Converts a document, or a text that is not UTF-8 after all. The text is made once for each version of a file. Rejects
   * with the signal's reason.
   */
  convert(signal: AbortSignal): Promise<DocumentText>;
}

/** The files that a run's agent may read: those of its integration, those of its agency, or both. */
export interface AgentFiles<Path = AgentPath> {
  /** Lists the entries directly in a folder, after the name `after`. Resolves to null if the folder does not exist. */
  list(folder: Path, after: string | null, limit: number): Promise<AgentFilePage<Path> | null>;
  /** Yields all files below a folder, at any depth and in any order. */
  walk(folder: Path): AsyncIterable<Omit<AgentFile<Path>, 'contentType'>>;
  /** Resolves to null if the file does not exist. */
  open(path: Path): Promise<OpenedAgentFile | null>;
}

/** The folder to which an agency restricts an agent: null if there is none, and `nothing` if the agent sees no files. */
export type FilesBelow = MountPath | null | 'nothing';

/** The file tools. An agent has all of them unless it names some in `tools` or sets `files: false`. */
export const FILE_TOOLS = ['list_files', 'read_file', 'search_files', 'show_file'] as const;
