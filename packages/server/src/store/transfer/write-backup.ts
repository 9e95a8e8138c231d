import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { syncFolder } from '@runwire/lib/durable-files.ts';
import {
  BLOB_LIST,
  blobFolder,
  LinesFile,
  MISSING_LIST,
  SECRET_FILE,
  TABLES_FOLDER,
  tableFile,
} from './backup-files.ts';
import {
  BackupRefused,
  type ListedBlob,
  type ListedFile,
  type ListedTable,
  type Manifest,
  writeManifest,
} from './manifest.ts';
import type { BackupSource } from './ports.ts';
import { COPIED_TABLES } from './tables.ts';

/** Writes a backup beside its final place and renames it when it is complete. */
export class BackupDraft implements AsyncDisposable {
  readonly #to: string;
  readonly #folder: string;
  readonly blobs: string;

  private constructor(to: string, folder: string) {
    this.#to = to;
    this.#folder = folder;
    this.blobs = blobFolder(folder);
  }

  static async create(folder: string): Promise<BackupDraft> {
    const to = resolve(folder);
    if ((await readdir(to).catch(missing)).length > 0) {
      throw new BackupRefused(`${to} is not empty; name a new or empty folder with --to.`);
    }
    const draft = join(dirname(to), `.${basename(to)}.${randomBytes(6).toString('hex')}.part`);
    try {
      await mkdir(dirname(to), { recursive: true });
      await mkdir(draft, { mode: 0o700 });
      await mkdir(join(draft, TABLES_FOLDER), { mode: 0o700 });
    } catch (error) {
      throw new BackupRefused(
        `The backup cannot be written to ${to} (${sentence(error)}); name another folder with --to.`,
      );
    }
    return new BackupDraft(to, draft);
  }

  async writeTables(snapshot: BackupSource): Promise<Record<string, ListedTable>> {
    const tables: Record<string, ListedTable> = {};
    for (const table of COPIED_TABLES) {
      const columns = await snapshot.columns(table);
      if (columns.length === 0) continue;
      const listed = await this.#write(tableFile(table), async (file) => {
        for await (const lines of snapshot.lines(table, columns)) await file.addLines(lines);
      });
      tables[table] = { ...listed, columns };
    }
    return tables;
  }

  writeBlobList(blobs: AsyncIterable<readonly ListedBlob[]>): Promise<ListedFile> {
    return this.#write(BLOB_LIST, async (file) => {
      for await (const batch of blobs) await file.add(batch);
    });
  }

  writeSecret(secret: string): Promise<ListedFile> {
    return this.#write(SECRET_FILE, (file) => file.add([secret]));
  }

  /** Lists for the operator the blobs that could not be read. */
  async writeMissing(keys: readonly string[]): Promise<void> {
    await this.#write(MISSING_LIST, (file) => file.add(keys));
  }

  async #write(name: string, fill: (file: LinesFile) => Promise<void>): Promise<ListedFile> {
    const file = await LinesFile.create(join(this.#folder, name));
    try {
      await fill(file);
    } catch (error) {
      await file.abandon();
      throw error;
    }
    return await file.finish();
  }

  /** Renames the backup to its final place. */
  async finish(manifest: Manifest): Promise<void> {
    await syncFolder(join(this.#folder, TABLES_FOLDER));
    await writeManifest(this.#folder, manifest);
    await rename(this.#folder, this.#to);
    await syncFolder(dirname(this.#to));
  }

  /** Deletes an unfinished backup. */
  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function missing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw new BackupRefused(`The backup cannot be written there (${sentence(error)}); name another folder with --to.`);
}

const sentence = (error: unknown) => (error instanceof Error ? error.message : String(error));
