import type { File as StoredFile } from '@runwire/client';
import { api } from '../../app/api.ts';
import { InputError } from '../../app/errors.ts';
import { runMutation } from '../../app/query-client.ts';
import { formatBytes } from '../../lib/format.ts';
import { saveFile } from '../../lib/save-file.ts';
import { type ZipEntry, zip } from '../../lib/zip.ts';
import { listItems } from './all-items.ts';
import { getName, ROOT } from './file-path.ts';

/** The archive is made in the browser's memory. */
const MAX_BYTES = 200_000_000;
const MAX_FILES = 5000;

type Item = Pick<StoredFile, 'name' | 'path' | 'kind'> & Partial<StoredFile>;

/** Saves files and folders as one archive, with paths below the folder. Reports how many files were read. */
export function downloadItems(
  integration: string,
  folder: string,
  items: readonly Item[],
  onProgress: (read: number, all: number) => void = () => {},
): Promise<void> {
  return runMutation(async () => {
    const files = await withContents(integration, items);
    const bytes = files.reduce((sum, { size }) => sum + (size ?? 0), 0);
    if (bytes > MAX_BYTES || files.length > MAX_FILES) {
      const limit = `${formatBytes(MAX_BYTES)} or ${MAX_FILES} files`;
      throw new InputError(`These are more than ${limit}. Choose fewer, or read them with \`runwire files get\`.`);
    }
    const entries: ZipEntry[] = [];
    for (const { path, modifiedAt } of files) {
      onProgress(entries.length, files.length);
      const answer = await api().files.content({ apiIntegrationId: integration, path });
      const at = modifiedAt == null ? new Date() : new Date(modifiedAt);
      entries.push({
        name: path.slice(folder.length + 1),
        bytes: new Uint8Array(await answer.arrayBuffer()),
        modifiedAt: at,
      });
    }
    const [first] = items;
    const isOne = items.length === 1 && first !== undefined;
    const name = isOne ? first.name : folder === ROOT ? integration : getName(folder);
    saveFile(zip(entries), `${name}.zip`);
  });
}

/** The files among the items, and those in the folders. */
async function withContents(integration: string, items: readonly Item[]): Promise<readonly Item[]> {
  const files: Item[] = [];
  for (const item of items) {
    if (item.kind === 'file') files.push(item);
    else {
      for await (const inside of listItems(integration, item.path, { deep: true })) {
        if (inside.kind === 'file') files.push(inside);
        if (files.length > MAX_FILES) return files;
      }
    }
  }
  // A folder and a file in it may both be chosen, in the results of a search.
  return [...new Map(files.map((file) => [file.path, file])).values()];
}
