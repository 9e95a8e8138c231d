import { foldersAbove, type MountPath, wholePath } from '../domain/file/mount-path.ts';
import type { ChatKey, IntegrationId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { type IntegrationRow, integrationById } from '../store/queries/accounts.ts';
import {
  filesAt,
  filesInTheWay,
  forgetSettledDropsAt,
  formsInTheWay,
  freeFiles,
  insertFiles,
  jsonPaths,
  jsonRows,
  type NewFileRow,
  type PathInTheWay,
} from '../store/queries/file-batches.ts';
import {
  type FileRow,
  fileAfter,
  freeFilesIn,
  mountPath,
  NO_PATH,
  rangeBelow,
  storedPath,
  sumFilesIn,
} from '../store/queries/files.ts';
import { lockIntegrationForFiles } from '../store/queries/locks.ts';
import { forgetSettledDrops } from '../store/queries/upload-forms.ts';
import { first, type Tx } from '../store/store.ts';
import { FolderSums, takeBelow } from './folder-sums.ts';

/** How long a signed form counts as a file that may still arrive: 15 minutes, and 5 more for an upload in progress. */
export const OPEN_FORM_MS = 20 * 60_000;

export interface FilePut {
  readonly kind: 'put';
  readonly path: MountPath;
  /** Its bytes are durable, and no other row refers to it. */
  readonly blobKey: string;
  readonly size: number;
  readonly etag: string;
  readonly contentType: string;
  readonly modifiedAt: number;
  /** Null if a run made the file. */
  readonly signedAt: number | null;
  /** Null for an upload. */
  readonly chatKey: ChatKey | null;
}

export type FileChange = FilePut | { readonly kind: 'delete'; readonly path: MountPath };

/** A file and a folder would have the same name. The message is a whole sentence. */
export class PathTaken extends Error {
  override readonly name = 'PathTaken';
}

/**
 * Makes changes to an integration's files, in the caller's transaction: all become visible, or none. Each path may
 * be changed once. Throws `PathTaken`. Resolves to the number of files that were put or deleted.
 */
export async function changeFiles(
  tx: Tx,
  integrationId: IntegrationId,
  changes: readonly FileChange[],
  now: number,
): Promise<number> {
  const integration = await lockFiles(tx, integrationId);
  const old = await readFiles(
    tx,
    integrationId,
    changes.map(({ path }) => path),
  );
  await writeChanges(tx, integration, { changes, old, now }, async (paths) => {
    for (const taken of (await pathsTakenByFiles(tx, integrationId, paths)).values()) throw new PathTaken(taken);
  });
  return changes.filter(({ kind, path }) => kind === 'put' || old.has(path)).length;
}

/** Reads the files at these paths, for a change of them. */
export async function readFiles(
  tx: Tx,
  integrationId: IntegrationId,
  paths: readonly MountPath[],
): Promise<ReadonlyMap<MountPath, FileRow>> {
  const rows = await tx.all(filesAt, { integrationId, paths: jsonPaths(paths) });
  return new Map(rows.map((row) => [mountPath(row.path), row]));
}

/**
 * Writes the changes. `old` has the files that exist at their paths. Deletes files first, because a new file may have the
 * name of a folder that is empty then; `checkFree` gets the new files' paths after that.
 */
export async function writeChanges(
  tx: Tx,
  { integration_id: integrationId, member_folder: template }: FilesOwner,
  { changes, old, now }: { changes: readonly FileChange[]; old: ReadonlyMap<MountPath, FileRow>; now: number },
  checkFree: (paths: readonly MountPath[]) => Promise<void>,
): Promise<void> {
  const sums = new FolderSums(template);
  for (const [path, { size_bytes: bytes }] of old) sums.add(path, -bytes);
  const deleted = changes.flatMap(({ kind, path }) => (kind === 'delete' && old.has(path) ? [path] : []));
  const put = changes.flatMap((change) => (change.kind === 'put' ? [change] : []));
  if (old.size > 0) {
    await tx.run(freeFiles, { blobs: jsonRows(Array.from(old.values(), (row) => ({ blob: row.blob_key }))), now });
  }
  if (deleted.length > 0) await tx.run(forgetSettledDropsAt, { integrationId, paths: jsonPaths(deleted) });
  if (put.length > 0) {
    // A file that existed has no file above or below it.
    const created = put.flatMap(({ path }) => (old.has(path) ? [] : [path]));
    if (created.length > 0) await checkFree(created);
    for (const { path, size } of put) sums.add(path, size);
    await tx.run(insertFiles, { integrationId, files: jsonRows(put.map((file) => newRow(file, old.get(file.path)))) });
  }
  await sums.write(tx, integrationId);
}

/** A new version of a file that a chat made stays visible in that chat. */
const newRow = (file: FilePut, old: FileRow | undefined): NewFileRow => ({
  path: storedPath(file.path),
  blob: file.blobKey,
  size: file.size,
  etag: file.etag,
  type: file.contentType,
  modified: file.modifiedAt,
  signed: file.signedAt,
  chat: file.chatKey ?? old?.chat_key ?? null,
});

/** Files per statement: PostgreSQL ends a statement after 5 s, and needs 2 s for 100 000 files. */
const FILES_TOGETHER = 20_000;

/** Deletes everything below a folder; `''` is the mount. Resolves to the number of files. */
export async function deleteBelow(
  tx: Tx,
  integrationId: IntegrationId,
  folder: MountPath,
  now: number,
): Promise<number> {
  await tx.all(lockIntegrationForFiles, { integrationId });
  const { from, to } = rangeBelow(folder);
  const bytes = (await first(tx.all(sumFilesIn, { integrationId, from, to })))?.bytes ?? 0;
  let count = 0;
  for (let start = from; ; ) {
    const next = await first(tx.all(fileAfter, { integrationId, from: start, to, offset: FILES_TOGETHER }));
    count += await tx.run(freeFilesIn, { integrationId, from: start, to: next?.path ?? to, now });
    if (next === undefined) break;
    start = next.path;
  }
  await tx.run(forgetSettledDrops, { integrationId, from, to });
  await takeBelow(tx, integrationId, folder, bytes);
  return count;
}

/** What a change of files has to know of their integration. */
export type FilesOwner = Pick<IntegrationRow, 'integration_id' | 'member_folder'>;

/** Changes to the files of one integration run one after the other. Refuses an integration that was deleted. */
export async function lockFiles(tx: Tx, integrationId: IntegrationId): Promise<IntegrationRow> {
  await tx.all(lockIntegrationForFiles, { integrationId });
  const integration = await first(tx.all(integrationById, { integrationId }));
  if (integration === undefined) throw new Refusal('integration_not_found');
  return integration;
}

/**
 * Finds the paths of new files that no file can have, because the path is a folder, or a file is above it. Resolves to a
 * whole sentence for each.
 */
export async function pathsTakenByFiles(
  tx: Tx,
  integrationId: IntegrationId,
  paths: readonly MountPath[],
): Promise<ReadonlyMap<MountPath, string>> {
  const folders = foldersAbove(paths);
  const given = { integrationId, paths: jsonPaths(paths), folders: jsonPaths(folders) };
  const others = await tx.all(filesInTheWay, given);
  const isFolder = (path: MountPath) =>
    `${wholePath(path)} is a folder, so no file can have its name; choose another name, or delete the folder.`;
  const isFile = (path: MountPath) =>
    `${wholePath(path)} is a file, so no folder can have its name; choose another folder, or delete the file.`;
  // New files can be in the way of each other.
  const own = paths.filter((path) => folders.has(path)).map((path) => ({ path: storedPath(path), other: NO_PATH }));
  return sentences(paths, [...own, ...others], isFolder, isFile);
}

/** Does the same for open forms, whose files could not exist beside these. */
export async function pathsTakenByForms(
  tx: Tx,
  integrationId: IntegrationId,
  paths: readonly MountPath[],
  now: number,
): Promise<ReadonlyMap<MountPath, string>> {
  const given = { paths: jsonPaths(paths), folders: jsonPaths(foldersAbove(paths)), since: now - OPEN_FORM_MS };
  const others = await tx.all(formsInTheWay, { integrationId, ...given });
  return sentences(
    paths,
    others,
    () => FORM_IN_THE_WAY,
    () => FORM_IN_THE_WAY,
  );
}

/** Throws `PathTaken` if a new file cannot have this path, because of a file or of an open form. */
export async function checkFree(tx: Tx, integrationId: IntegrationId, path: MountPath, now: number): Promise<void> {
  for (const taken of (await pathsTakenByFiles(tx, integrationId, [path])).values()) throw new PathTaken(taken);
  for (const taken of (await pathsTakenByForms(tx, integrationId, [path], now)).values()) throw new PathTaken(taken);
}

const FORM_IN_THE_WAY =
  'Another open form uses this path as a folder, or a folder of this path as a file; choose another name, or wait until ' +
  'that form has expired.';

function sentences(
  paths: readonly MountPath[],
  others: readonly PathInTheWay[],
  isFolder: (path: MountPath) => string,
  isFile: (path: MountPath) => string,
): ReadonlyMap<MountPath, string> {
  const taken = new Map<MountPath, string>();
  for (const { path } of others) if (path !== null) taken.set(mountPath(path), isFolder(mountPath(path)));
  const files = new Set(others.flatMap(({ path, other }) => (path === null ? [mountPath(other)] : [])));
  if (files.size === 0) return taken;
  for (const path of paths) {
    const file = [...foldersAbove([path])].find((folder) => files.has(folder));
    if (file !== undefined) taken.set(path, isFile(file));
  }
  return taken;
}
