import { shownPath } from '../../domain/file/agency-path.ts';
import { lastSegment } from '../../domain/file/mount-path.ts';
import type { AgentFile, AgentFolder } from '../files-port.ts';
import { fileTool } from './file-tool.ts';
import { bytes, checkModelFolderPath } from './model-path.ts';

interface ListInput {
  readonly folder?: string;
  readonly after?: string;
}

export const ENTRIES_A_LIST = 200;

export const listFiles = fileTool<ListInput>({
  name: 'list_files',
  description: 'Lists the files and folders directly below a folder, by name, with size, type and time of the files.',
  properties: {
    folder: {
      type: 'string',
      description: 'Full path of the folder, without a slash at its end; /app/mnt if not given.',
    },
    after: { type: 'string', description: 'Continues after this name, if an earlier list was not complete.' },
  },
  required: [],
  async execute(files, { folder, after }) {
    const checked = checkModelFolderPath(folder);
    if ('problem' in checked) return checked.problem;
    const page = await files.list(checked.below, after ?? null, ENTRIES_A_LIST);
    const path = shownPath(checked.below);
    if (page === null) return `There is no folder ${path}.`;
    const last = page.entries.at(-1);
    if (last === undefined)
      return after === undefined ? `The folder ${path} is empty.` : `There is nothing more in ${path}.`;
    const lines = page.entries.map(entryLine);
    if (page.hasMore) lines.push(`[There is more: call again with after ${JSON.stringify(lastSegment(last.path))}.]`);
    return lines.join('\n');
  },
});

function entryLine(entry: AgentFile | AgentFolder): string {
  const path = shownPath(entry.path);
  if (entry.kind === 'folder') return `${path} (folder)`;
  return `${path} (${bytes(entry.size)}, ${entry.contentType}, ${new Date(entry.modifiedAt).toISOString()})`;
}
