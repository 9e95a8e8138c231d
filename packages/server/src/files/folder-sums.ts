import { memberFolderAt } from '../domain/file/file-access.ts';
import { foldersAbove, type MountPath } from '../domain/file/mount-path.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { jsonPaths, jsonRows } from '../store/queries/file-batches.ts';
import { addFileBytes, rangeBelow, storedPath } from '../store/queries/files.ts';
import { addFolderBytes, forgetFoldersIn, takeFromFolders } from '../store/queries/folder-bytes.ts';
import type { Tx } from '../store/store.ts';

/** The bytes that a transaction adds to an integration's files: in total, and to each folder of a member. */
export class FolderSums {
  readonly #template: string;
  readonly #byFolder = new Map<MountPath, number>();
  #total = 0;

  /** `template`: the `memberFolder` of the integration. */
  constructor(template: string) {
    this.#template = template;
  }

  add(path: MountPath, bytes: number): void {
    this.#total += bytes;
    const folder = memberFolderAt(this.#template, path);
    if (folder !== null) this.#byFolder.set(folder, (this.#byFolder.get(folder) ?? 0) + bytes);
  }

  async write(tx: Tx, integrationId: IntegrationId): Promise<void> {
    if (this.#total !== 0) await tx.run(addFileBytes, { integrationId, bytes: this.#total });
    const changed = [...this.#byFolder].filter(([, bytes]) => bytes !== 0);
    if (changed.length === 0) return;
    const folders = jsonRows(changed.map(([folder, bytes]) => ({ path: storedPath(folder), bytes })));
    await tx.run(addFolderBytes, { integrationId, folders });
  }
}

/** Call it when all files below a folder are deleted, which had so many bytes. */
export async function takeBelow(tx: Tx, integrationId: IntegrationId, folder: MountPath, bytes: number): Promise<void> {
  if (bytes !== 0) await tx.run(addFileBytes, { integrationId, bytes: -bytes });
  await tx.run(forgetFoldersIn, { integrationId, from: storedPath(folder), to: rangeBelow(folder).to });
  const above = foldersAbove([folder]);
  if (bytes !== 0 && above.size > 0) await tx.run(takeFromFolders, { integrationId, paths: jsonPaths(above), bytes });
}
