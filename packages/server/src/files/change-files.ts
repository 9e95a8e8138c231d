import { type MountPath, wholePath } from '../domain/mount-path.ts';
import { Refusal } from '../domain/refusal.ts';
import { integrationById } from '../store/queries/accounts.ts';
import {
  addFileBytes,
  fileAfter,
  fileAt,
  fileInTheWay,
  formInTheWay,
  freeFile,
  freeFilesIn,
  insertFile,
  mountPath,
  rangeBelow,
  rangeOf,
  storedPath,
  sumFilesIn,
} from '../store/queries/files.ts';
import { lockIntegrationForFiles } from '../store/queries/locks.ts';
import { forgetSettledDrops, usedBytes } from '../store/queries/upload-forms.ts';
import { first, type Tx } from '../store/store.ts';

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
  readonly chatKey: string | null;
}

export type FileChange = FilePut | { readonly kind: 'delete'; readonly path: MountPath };

/** A file and a folder would have the same name. The message is a whole sentence. */
export class PathTaken extends Error {
  override readonly name = 'PathTaken';
}

/**
 * Makes changes to the files of an integration, in the transaction of the caller: all become visible, or none. Throws
 * `PathTaken`. Resolves to the number of files that were put or deleted.
 */
export async function changeFiles(
  tx: Tx,
  integrationId: string,
  changes: readonly FileChange[],
  now: number,
): Promise<number> {
  await lockFiles(tx, integrationId);
  let count = 0;
  let bytes = 0;
  for (const change of changes) {
    const path = storedPath(change.path);
    const old = await first(tx.all(fileAt, { integrationId, path }));
    if (old !== undefined) {
      await tx.run(freeFile, { blobKey: old.blob_key, now });
      bytes -= old.size_bytes;
    }
    if (change.kind === 'put') {
      // A file that existed has no file above or below it.
      if (old === undefined) await checkFree(tx, integrationId, change.path);
      // A new version of a file that a chat made stays visible in that chat.
      const chatKey = change.chatKey ?? old?.chat_key ?? null;
      await tx.run(insertFile, { ...change, integrationId, path, sizeBytes: change.size, chatKey });
      bytes += change.size;
    } else if (old !== undefined) {
      await tx.run(forgetSettledDrops, { integrationId, ...rangeOf(change.path) });
    }
    if (old !== undefined || change.kind === 'put') count += 1;
  }
  if (bytes !== 0) await tx.run(addFileBytes, { integrationId, bytes });
  return count;
}

/** Files per statement: PostgreSQL ends a statement after 5 s, and needs 2 s for 100 000 files. */
const FILES_TOGETHER = 20_000;

/** Deletes everything below a folder; `''` is the mount. Resolves to the number of files. */
export async function deleteBelow(tx: Tx, integrationId: string, folder: MountPath, now: number): Promise<number> {
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
  if (bytes !== 0) await tx.run(addFileBytes, { integrationId, bytes: -bytes });
  return count;
}

/** Changes to the files of one integration run one after the other. Refuses an integration that was deleted. */
export async function lockFiles(tx: Tx, integrationId: string): Promise<void> {
  await tx.all(lockIntegrationForFiles, { integrationId });
  if ((await first(tx.all(integrationById, { integrationId }))) === undefined) {
    throw new Refusal('integration_not_found');
  }
}

/** Throws `PathTaken` if a file cannot have this path, because it is a folder or a file is above it. */
export async function checkFree(tx: Tx, integrationId: string, path: MountPath): Promise<void> {
  const other = await first(tx.query(fileInTheWay(integrationId, path)));
  if (other === undefined) return;
  const taken = mountPath(other.path);
  throw new PathTaken(
    taken.startsWith(`${path}/`)
      ? `${wholePath(path)} is a folder, so no file can have its name; choose another name, or delete the folder.`
      : `${wholePath(taken)} is a file, so no folder can have its name; choose another folder, or delete the file.`,
  );
}

/** Throws `PathTaken` if an open form is for a file that could not exist beside this one. */
export async function checkFreeOfForms(tx: Tx, integrationId: string, path: MountPath, now: number): Promise<void> {
  if ((await first(tx.query(formInTheWay(integrationId, path, now - OPEN_FORM_MS)))) === undefined) return;
  throw new PathTaken(
    'Another open form uses this path as a folder, or a folder of this path as a file; choose another name, or wait ' +
      'until that form has expired.',
  );
}

/** Throws if the files and the open forms, with what this transaction added, exceed the quota; 0 is no quota. */
export async function checkQuota(tx: Tx, integrationId: string, quotaBytes: number, now: number): Promise<void> {
  if (quotaBytes === 0) return;
  const used = await first(tx.all(usedBytes, { integrationId, since: now - OPEN_FORM_MS, quotaBytes }));
  if (used === undefined) throw new Refusal('integration_not_found');
  const foreseen = used.files + used.promised;
  if (foreseen <= quotaBytes) return;
  throw new Refusal(
    'mount_quota_exceeded',
    `The files of this integration use ${used.files} bytes. With this file and the open upload forms they could use ` +
      `${foreseen}, and the quota is ${quotaBytes}; delete files, or wait until unused forms have expired.`,
    { usedBytes: used.files, foreseenBytes: foreseen, quotaBytes },
  );
}
