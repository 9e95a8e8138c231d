import { join, resolve } from 'node:path';
import type { StoreKind } from '../store.ts';
import { BLOB_LIST, blobFolder, isWhole, readLines, SECRET_FILE, tableFile } from './backup-files.ts';
import { BackupRefused, type ListedBlob, type ListedFile, type Manifest, readManifest } from './manifest.ts';
import { BATCH_ROWS, type Row, type Snapshot } from './ports.ts';

/** Reads a backup as a snapshot. Every file is compared with its checksum before it is read. */
export class Backup implements Snapshot {
  readonly kind: StoreKind;
  readonly manifest: Manifest;
  readonly blobs: string;
  readonly #folder: string;

  private constructor(folder: string, manifest: Manifest) {
    this.#folder = folder;
    this.manifest = manifest;
    this.kind = manifest.store;
    this.blobs = blobFolder(folder);
  }

  /** Throws if the backup is damaged, incomplete or newer than this program. */
  static async open(from: string): Promise<Backup> {
    const folder = resolve(from);
    const manifest = await readManifest(folder);
    const files: [string, ListedFile][] = Object.entries(manifest.tables).map(([table, listed]) => [
      tableFile(table),
      listed,
    ]);
    files.push([BLOB_LIST, manifest.blobs]);
    if (manifest.secret !== null) files.push([SECRET_FILE, manifest.secret]);
    for (const [name, listed] of files) {
      if (await isWhole(join(folder, name), listed)) continue;
      throw new BackupRefused(
        `The backup ${folder} is damaged: ${name} is missing or was changed; use another backup.`,
      );
    }
    return new Backup(folder, manifest);
  }

  async migrations(): Promise<string[]> {
    return [...this.manifest.migrations];
  }

  async columns(table: string): Promise<string[]> {
    return [...(this.manifest.tables[table]?.columns ?? [])];
  }

  rows(table: string): AsyncIterable<readonly Row[]> {
    return this.#lines<Row>(tableFile(table));
  }

  blobList(): AsyncIterable<readonly ListedBlob[]> {
    return this.#lines<ListedBlob>(BLOB_LIST);
  }

  async secret(): Promise<string | null> {
    if (this.manifest.secret === null) return null;
    for await (const [secret] of this.#lines<string>(SECRET_FILE)) return secret ?? null;
    return null;
  }

  #lines<T>(name: string): AsyncGenerator<T[]> {
    return readLines<T>(join(this.#folder, name), BATCH_ROWS);
  }
}
