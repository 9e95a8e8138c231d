import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '@runwire/lib/durable-files.ts';
import { unknownMigrations } from '../migrate.ts';
import type { StoreKind } from '../store.ts';

/** Raise it if an older version could not read the new format. */
export const BACKUP_FORMAT = 3;
const FILE = 'manifest.json';

/** A file of JSON lines. */
export interface ListedFile {
  readonly lines: number;
  readonly bytes: number;
  readonly sha256: string;
}

export interface ListedTable extends ListedFile {
  readonly columns: readonly string[];
}

/** A backup's contents. */
export interface Manifest {
  readonly format: number;
  /** The version that wrote the backup. */
  readonly version: string;
  readonly store: StoreKind;
  readonly takenAt: string;
  readonly migrations: readonly string[];
  /** The file with the signing secret. Null if `RUNWIRE_SECRET` is set. */
  readonly secret: ListedFile | null;
  readonly tables: Readonly<Record<string, ListedTable>>;
  /** A line of `ListedBlob` for each blob. */
  readonly blobs: ListedFile;
}

/** The bytes of an attachment or file in the backup. */
export interface ListedBlob {
  readonly key: string;
  readonly sha256: string;
}

/** The backup cannot be used. The message is one sentence for the operator. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused';
}

/** Contains a checksum of itself: a changed manifest would check all other files against wrong numbers. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const text = JSON.stringify({ sha256: hash('sha256', JSON.stringify(manifest)), manifest }, null, 2);
  await writeDurably(join(folder, FILE), `${text}\n`);
}

export async function readManifest(folder: string): Promise<Manifest> {
  let text: string;
  try {
    text = await readFile(join(folder, FILE), 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BackupRefused(`${folder} is not a backup, or not a complete one (${reason}); name another with --from.`);
  }
  const damaged = new BackupRefused(`The backup ${folder} is damaged: its ${FILE} was changed; use another backup.`);
  let whole: { sha256?: unknown; manifest?: Manifest };
  try {
    whole = JSON.parse(text) as typeof whole;
  } catch {
    throw damaged;
  }
  const { manifest } = whole;
  if (typeof manifest !== 'object' || manifest === null) throw damaged;
  if (whole.sha256 !== hash('sha256', JSON.stringify(manifest))) throw damaged;
  if (manifest.format > BACKUP_FORMAT || unknownMigrations(manifest.migrations).length > 0) {
    throw new BackupRefused(
      `The backup ${folder} was made by a newer version of Runwire (${manifest.version}); restore it with that version.`,
    );
  }
  if (manifest.format < BACKUP_FORMAT) {
    throw new BackupRefused(
      `The backup ${folder} was made by an earlier version of Runwire (${manifest.version}), in a format that this version does not read; restore it with that version.`,
    );
  }
  return manifest;
}
