import { RunwireError, type File as StoredFile } from '@runwire/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import { filesKey } from './files-query.ts';

/** What a search and a sorted list read at most. */
const MAX_ITEMS = 5000;

/** True if the folder has no file any more. */
export const isFolderGone = (error: unknown): boolean =>
  error instanceof RunwireError && error.code === 'file_not_found';

/** The items of a folder, and if it is `deep` of the folders in it, one folder after the other. */
export async function* listItems(
  apiIntegrationId: string,
  top: string,
  { deep, signal }: { readonly deep: boolean; readonly signal?: AbortSignal },
): AsyncGenerator<StoredFile> {
  const folders = [top];
  // The loop also reads the folders that it adds.
  for (const folder of folders) {
    const options = signal === undefined ? {} : { signal };
    try {
      for await (const item of api().files.list({ apiIntegrationId, folder, limit: 200 }, options)) {
        yield item;
        if (deep && item.kind === 'folder') folders.push(item.path);
      }
    } catch (error) {
      // A folder ends with its last file.
      if (folder === top || !isFolderGone(error)) throw error;
    }
  }
}

export interface FolderItems {
  readonly items: readonly StoredFile[];
  /** True if there are more. */
  readonly isCut: boolean;
}

export const folderItemsQuery = (integration: string, folder: string, deep: boolean) =>
  queryOptions({
    queryKey: [...filesKey(integration, folder), deep ? 'deep' : 'all'],
    queryFn: async ({ signal }): Promise<FolderItems> => {
      const items: StoredFile[] = [];
      for await (const item of listItems(integration, folder, { deep, signal })) {
        if (items.length === MAX_ITEMS) return { items, isCut: true };
        items.push(item);
      }
      return { items, isCut: false };
    },
    // Many requests.
    staleTime: 30_000,
    refetchOnWindowFocus: false,
  });

export const SORTS = {
  name: 'Name',
  size: 'Size, largest first',
  changed: 'Change, newest first',
} as const;
export type FileSort = keyof typeof SORTS;

const BY: Readonly<Record<FileSort, (one: StoredFile, other: StoredFile) => number>> = {
  // The API sorts by name.
  name: () => 0,
  size: (one, other) => (other.size ?? -1) - (one.size ?? -1),
  changed: (one, other) => (other.modifiedAt ?? '').localeCompare(one.modifiedAt ?? ''),
};

/** The items whose name has the text, in this order. */
export function chooseItems(items: readonly StoredFile[], text: string, sort: FileSort): readonly StoredFile[] {
  const wanted = text.toLowerCase();
  const found = wanted === '' ? items : items.filter(({ name }) => name.toLowerCase().includes(wanted));
  return found.toSorted(BY[sort]);
}
