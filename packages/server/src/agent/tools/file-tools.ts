import type { AgentFiles } from '../files-port.ts';
import type { ModelTool, Tool } from '../ports.ts';
import { listFiles } from './list-files.ts';
import { readFile } from './read-file.ts';
import { searchFiles } from './search-files.ts';
import { showFile } from './show-file.ts';

const TOOLS = [listFiles, readFile, searchFiles, showFile];

/** The tools that `FILE_TOOLS` names, as models get them. */
export const shownFileTools: readonly ModelTool[] = TOOLS.map(({ shown }) => shown);

/** Makes the tools that `FILE_TOOLS` names. */
export function fileTools(files: AgentFiles): readonly Tool[] {
  return TOOLS.map((forFiles) => forFiles(files));
}
