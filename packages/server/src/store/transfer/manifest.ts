import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../../lib/durable-files.ts';
import { unknownMigrations } from '../migrate.ts';
import type { StoreKind } from '../store.ts';

/** Raised when an older program could not read what is written. */
export const BACKUP_FORMAT = 2;
const FILE = 'manifest.json';

/** A file of lines. */
export interface ListedFile {
  readonly lines: number;
  readonly bytes: number;
  readonly sha256: string;
}

export interface ListedTable extends ListedFile {
  readonly columns: readonly string[];
}

/** What a back-up holds. */
export interface Manifest {
  readonly format: number;
  /** The program that wrote it. */
  readonly version: string;
  readonly store: StoreKind;
  readonly takenAt: string;
  readonly migrations: readonly string[];
  /** Whether the signing secret is in it; where `RUNWIRE_SECRET` is set it is not. */
  readonly secret: ListedFile | null;
  readonly tables: Readonly<Record<string, ListedTable>>;
  /** The names of the blobs that are in it. */
  readonly blobs: ListedFile;
  /** The files of the integrations' mounts that are in it; of format 1, which had none, it is not there. */
  readonly mount?: ListedFile;
}

/** A back-up that cannot be used: one sentence for a person. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused';
}

/** With a checksum of itself: a changed manifest would check everything else against wrong numbers. */
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
    throw new BackupRefused(`${folder} is no back-up, or an incomplete one (${reason}); name another with --from.`);
  }
  const damaged = new BackupRefused(`The back-up ${folder} is damaged: its ${FILE} was changed; use another back-up.`);
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
      `The back-up ${folder} was made by a newer version of Runwire (${manifest.version}); restore it with that version.`,
    );
  }
  return manifest;
}
