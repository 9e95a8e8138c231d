import { filenameProblem, lastSegment, MOUNT, wholePath } from '../domain/file/mount-path.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { invalidCursor } from '../domain/list-cursor.ts';
import { pageOfRows } from '../domain/list-page.ts';
import { Refusal } from '../domain/refusal.ts';
import { iso } from '../domain/time.ts';
import type { FileEntry, Files } from './files.ts';
import { requestedFolder } from './requested-path.ts';

const DEFAULT_LIMIT = 50;

export interface FolderQuery {
  readonly folder?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

/**
 * Lists what is directly below a folder, ordered by name. `root` is the first folder that the caller sees: it is listed
 * also if it is empty.
 */
export async function listFolder(
  files: Pick<Files, 'list'>,
  integrationId: IntegrationId,
  query: FolderQuery,
  root = MOUNT,
) {
  const folder = requestedFolder('folder', query.folder ?? MOUNT);
  const after = query.cursor === undefined ? null : decodeName(query.cursor);
  const { limit = DEFAULT_LIMIT } = query;
  const page = await files.list(integrationId, folder, { after, limit });
  if (page === null) {
    if (wholePath(folder) === root) return pageOfRows([], limit, () => '', entryJson);
    throw new Refusal('file_not_found', 'There is no such folder; check `folder`, or upload a file into it first.');
  }
  const getCursor = ({ path }: FileEntry) => encodeName(lastSegment(path));
  const shown = pageOfRows(page.entries, limit, getCursor, entryJson);
  const last = page.entries.at(-1);
  if (page.hasMore && last !== undefined) shown.nextCursor ??= getCursor(last);
  return shown;
}

function entryJson(entry: FileEntry) {
  const isFile = entry.kind === 'file';
  return {
    name: lastSegment(entry.path),
    path: wholePath(entry.path),
    kind: entry.kind,
    size: isFile ? entry.size : null,
    etag: isFile ? entry.etag : null,
    contentType: isFile ? entry.contentType : null,
    modifiedAt: isFile ? iso(entry.modifiedAt) : null,
  };
}

const encodeName = (name: string) => Buffer.from(name).toString('base64url');

function decodeName(cursor: string): string {
  const name = Buffer.from(cursor, 'base64url').toString();
  if (encodeName(name) !== cursor || filenameProblem(name) !== null) throw invalidCursor();
  return name;
}
