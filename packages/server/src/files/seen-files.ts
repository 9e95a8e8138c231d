import type { FileScope } from '../domain/file-access.ts';
import type { ChatKey } from '../domain/ids.ts';
import type { SeenFiles } from '../store/queries/files.ts';
import { ALL_FILES } from './files.ts';

/** The files of its integration that a run sees. All others behave as if they did not exist. */
export function seenFiles({ chatKey, files }: { readonly chatKey: ChatKey; readonly files: FileScope }): SeenFiles {
  return files.access === 'all' ? ALL_FILES : { all: false, chatKey, folder: files.memberFolder };
}
