import type { FileScope } from '../domain/file/file-access.ts';
import type { SeenFiles } from '../store/queries/files.ts';
import { ALL_FILES } from './files.ts';

/** The files of its integration that a run sees. All others behave as if they did not exist. */
export function seenFiles({ chatKey, files }: { readonly chatKey: string; readonly files: FileScope }): SeenFiles {
  return files.access === 'all' ? ALL_FILES : { all: false, chatKey, folder: files.memberFolder };
}
