import { hash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { type MountPath, wholePath } from '../../domain/mount-path.ts';
import { StoreUnavailable } from '../../domain/unavailable.ts';
import { codeOf } from '../../storage/disk/as-unavailable.ts';
import type { MountFile } from '../mount-store.ts';
import type { ConfinedFolder } from './confined-folder.ts';
import { stamp } from './stamp.ts';

/** A file put there by hand. */
const UNKNOWN_TYPE = 'application/octet-stream';
/** The last of them move a time by seconds: as far as file systems with coarse ones need. */
const MAX_TRIES = 14;

/** What was said of a file when it was uploaded; of one of this size alone, with the mark that it is named by. */
interface AboutRecord extends Known {
  readonly path: MountPath;
  readonly size: string;
}

export interface Known {
  readonly contentType: string;
  readonly etag: string;
}

/** What parts a file from all others that have had its path. */
export type FileMark = Pick<BigIntStats, 'mtimeNs'>;

/**
 * Not by the path alone: the record of a file lies beside that of the one it replaces until it has its place. Nor by the
 * inode: a copy of the data folder has others, where it keeps paths and times.
 */
const recordName = (path: MountPath, { mtimeNs }: FileMark) => `${hash('sha256', path)}-${mtimeNs}`;

export async function fileOf(about: ConfinedFolder | null, path: MountPath, stats: BigIntStats): Promise<MountFile> {
  const record = about && (await readRecord(about, recordName(path, stats)));
  const known = record !== null && isOf(record, path, stats) ? record : unknown(stats);
  return mountFile(path, stats, known);
}

export function mountFile(path: MountPath, stats: BigIntStats, { contentType, etag }: Known): MountFile {
  return { kind: 'file', path, size: Number(stats.size), etag, contentType, modifiedAt: Number(stats.mtimeMs) };
}

/**
 * Before the file has its name: nobody finds one without the other. A draft whose record would have the name of another's,
 * or fit the file that it replaces, gets another time. Durable when it resolves, to what the draft is now.
 */
export async function keepAbout(
  about: ConfinedFolder,
  path: MountPath,
  draft: FileHandle,
  { contentType, etag }: Known,
  replaced: FileMark | null,
): Promise<BigIntStats> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if (tries > 0) {
      await stamp(draft, 2 ** tries);
      await draft.sync();
    }
    const stats = await draft.stat({ bigint: true });
    if (stats.mtimeNs === replaced?.mtimeNs) continue;
    await using file = await unlessTaken(about.newFile(recordName(path, stats)));
    if (file === null) continue;
    const record: AboutRecord = { path, size: String(stats.size), contentType, etag };
    await file.writeFile(JSON.stringify(record));
    await file.sync();
    await about.sync();
    return stats;
  }
  throw new StoreUnavailable(`The times of ${wholePath(path)} cannot be told from one another on this disk.`);
}

async function unlessTaken(file: Promise<FileHandle>): Promise<FileHandle | null> {
  try {
    return await file;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return null;
    throw error;
  }
}

export async function forgetAbout(about: ConfinedFolder | null, path: MountPath, file: FileMark): Promise<void> {
  await about?.unlink(recordName(path, file));
}

/** The path of the file that a record is about; null: it is none that can be read. */
export async function recordedPath(about: ConfinedFolder, name: string): Promise<MountPath | null> {
  const record = await readRecord(about, name);
  return record?.path ?? null;
}

export const isRecordOf = (name: string, path: MountPath, stats: BigIntStats) => name === recordName(path, stats);

function isOf(record: AboutRecord, path: MountPath, { size }: BigIntStats): boolean {
  return record.path === path && record.size === String(size);
}

function unknown({ ino, size, mtimeNs }: BigIntStats): Known {
  const etag = `"${[ino, size, mtimeNs].map((figure) => figure.toString(16)).join('-')}"`;
  return { contentType: UNKNOWN_TYPE, etag };
}

async function readRecord(about: ConfinedFolder, name: string): Promise<AboutRecord | null> {
  const found = await about.file(name);
  if (found === null) return null;
  await using handle = found.handle;
  try {
    const record = JSON.parse(await handle.readFile('utf8')) as AboutRecord | null;
    return typeof record?.path === 'string' ? record : null;
  } catch (error) {
    // Torn, by a process that died while it wrote it.
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
