import type { AgentFiles } from '../files-port.ts';
import type { Tool } from '../ports.ts';
import { listFiles } from './list-files.ts';
import { readFile } from './read-file.ts';
import { searchFiles } from './search-files.ts';

/** Makes the tools that `FILE_TOOLS` names. */
export function fileTools(files: AgentFiles): readonly Tool[] {
  return [listFiles(files), readFile(files), searchFiles(files)];
}
