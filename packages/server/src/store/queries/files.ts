import { type Kysely, sql } from 'kysely';
import type { MountPath } from '../../domain/file/mount-path.ts';
import type { ChatKey, IntegrationId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { insertInto, statement } from '../statement.ts';
import type { StoredPath } from '../stored-path.ts';
import { raw } from './raw.ts';

/** Begins each segment of a stored path: see `StoredPath`. */
export const BEFORE_SEGMENT = '\u0001';
/** Greater than every stored path below a folder if it follows that folder. */
export const AFTER_FOLDER = '\u0002';

export const storedPath = (path: MountPath): StoredPath =>
  (path === '' ? '' : `${BEFORE_SEGMENT}${path.replaceAll('/', BEFORE_SEGMENT)}`) as StoredPath;

export const mountPath = (path: StoredPath): MountPath => path.slice(1).replaceAll(BEFORE_SEGMENT, '/') as MountPath;

/** The mount's path, and of a form that is closed. */
export const NO_PATH = '' as StoredPath;

/** An end of a range: a text between two stored paths. */
const between = (text: string) => text as StoredPath;

/** The stored paths from `from` up to, and not including, `to`. */
export interface PathRange {
  readonly from: StoredPath;
  readonly to: StoredPath;
}

/** Everything below a folder; `''` is the mount. If `after` names an entry of the folder, what follows that entry. */
export function rangeBelow(folder: MountPath, after: string | null = null): PathRange {
  const begin = storedPath(folder);
  const from = `${begin}${BEFORE_SEGMENT}`;
  return {
    from: between(after === null ? from : `${from}${after}${AFTER_FOLDER}`),
    to: between(`${begin}${AFTER_FOLDER}`),
  };
}

/** Only the file with this path. */
export function parseRange(path: MountPath): PathRange {
  return { from: storedPath(path), to: afterFile(storedPath(path)) };
}

/** Less than every path that follows this file: nothing is below a file. */
export const afterFile = (path: StoredPath): StoredPath => between(`${path}${BEFORE_SEGMENT}`);

/** The files that a reader may see. */
export type SeenFiles =
  | { readonly all: true }
  | {
      readonly all: false;
      /** Announced in this chat, or made by its runs. */
      readonly chatKey: ChatKey;
      /** And all files below this folder. */
      readonly folder: MountPath | null;
    };

export const fileColumns = [
  'path',
  'blob_key',
  'size_bytes',
  'etag',
  'content_type',
  'modified_at',
  'signed_at',
  'chat_key',
  'text_key',
] as const;

/** Reads the files of a range that are seen, ordered by path. Each part of the union reads at most `limit` rows. */
export function filesIn(integrationId: IntegrationId, { from, to }: PathRange, seen: SeenFiles, limit: number) {
  return (db: Kysely<Schema>) => {
    const within = (range: PathRange) =>
      db
        .selectFrom('files')
        .select(fileColumns)
        .where('integration_id', '=', integrationId)
        .where('path', '>=', range.from)
        .where('path', '<', range.to)
        .where('freed_at', 'is', null)
        .orderBy('path')
        .limit(limit);
    if (seen.all) return within({ from, to });
    const announced = db
      .selectFrom('announced_files as a')
      .innerJoin('files as f', 'f.path', 'a.path')
      .select(fileColumns.map((column) => `f.${column}` as const))
      .where('f.integration_id', '=', integrationId)
      .where('f.freed_at', 'is', null)
      .where('a.chat_key', '=', seen.chatKey)
      .where('a.path', '>=', from)
      .where('a.path', '<', to)
      .orderBy('a.path')
      .limit(limit);
    // A chat belongs to one integration. Without a condition on it, only the index of chats can serve this part.
    const made = db
      .selectFrom('files')
      .select(fileColumns)
      .where('chat_key', '=', seen.chatKey)
      .where('freed_at', 'is', null)
      .where('path', '>=', from)
      .where('path', '<', to)
      .orderBy('path')
      .limit(limit);
    const parts = [announced, made];
    if (seen.folder !== null) parts.push(within(overlap({ from, to }, rangeBelow(seen.folder))));
    const [first, ...others] = parts.map((part) => db.selectFrom(part.as('part')).selectAll());
    if (first === undefined) throw new Error('A union needs a part.');
    return others
      .reduce((union, part) => union.union(part), first)
      .orderBy('path')
      .limit(limit);
  };
}

/** By UTF-8 bytes, as both databases compare: JavaScript compares some characters in another order. */
const isLess = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0;

const overlap = (one: PathRange, other: PathRange): PathRange => ({
  from: isLess(one.from, other.from) ? other.from : one.from,
  to: isLess(one.to, other.to) ? one.to : other.to,
});

export type FileRow = Awaited<ReturnType<ReturnType<ReturnType<typeof filesIn>>['execute']>>[number];

/** Reads one file, for a change of it. */
export const fileAt = statement('file at', (db, p: { integrationId: IntegrationId; path: StoredPath }) =>
  db
    .selectFrom('files')
    .select(fileColumns)
    .where('integration_id', '=', p.integrationId)
    .where('path', '=', p.path)
    .where('freed_at', 'is', null),
);

export type FileRange = PathRange & { readonly integrationId: IntegrationId };

export const isFileIn = (p: FileRange) =>
  sql<boolean>`integration_id = ${p.integrationId} and path >= ${p.from} and path < ${p.to} and freed_at is null`;

/** Reads the file's path after the first `offset` files of a range. */
export const fileAfter = statement('file after', (db, p: FileRange & { readonly offset: number }) =>
  db.selectFrom('files').select('path').where(isFileIn(p)).orderBy('path').limit(1).offset(p.offset),
);

export const sumFilesIn = statement('sum files in', (db, p: FileRange) =>
  raw<{ bytes: number }>(
    db,
    sql<{ bytes: number }>`
      select cast(coalesce(sum(size_bytes), 0) as bigint) as bytes from files where ${isFileIn(p)}`,
  ),
);

export const freeFilesIn = statement('free files in', (db, p: FileRange & { readonly now: number }) =>
  db.updateTable('files').set({ freed_at: p.now }).where(isFileIn(p)),
);

/** Adds to the sum of the integration's files: see `folder-bytes.ts`. */
export const addFileBytes = statement('add file bytes', (db, p: { integrationId: IntegrationId; bytes: number }) =>
  db
    .updateTable('integrations')
    .set((eb) => ({ file_bytes: eb('file_bytes', '+', p.bytes), counted_bytes: eb('counted_bytes', '+', p.bytes) }))
    .where('integration_id', '=', p.integrationId),
);

/** A document's text, unless the file was replaced or another reader was faster. */
export const storeText = statement(
  'store text',
  (db, p: { integrationId: IntegrationId; path: StoredPath; blobKey: string; textKey: string }) =>
    db
      .updateTable('files')
      .set({ text_key: p.textKey })
      .where('integration_id', '=', p.integrationId)
      .where('path', '=', p.path)
      .where('blob_key', '=', p.blobKey)
      .where('text_key', 'is', null)
      .where('freed_at', 'is', null),
);

/** Files that were replaced or deleted before `until`, oldest first. */
export const freedFiles = statement('freed files', (db, p: { until: number; limit: number }) =>
  db
    .selectFrom('files')
    .select(['integration_id', 'blob_key', 'text_key'])
    .where('freed_at', '<=', p.until)
    .orderBy('freed_at')
    .limit(p.limit),
);

/** Call it after the bytes were deleted. */
export const deleteFreedFile = statement('delete freed file', (db, p: { blobKey: string }) =>
  db.deleteFrom('files').where('blob_key', '=', p.blobKey),
);

/** The member in whose chat the file was made. */
export const makerOfFile = statement('maker of file', (db, p: { integrationId: IntegrationId; path: StoredPath }) =>
  db
    .selectFrom('files')
    .innerJoin('chats', 'chats.chat_key', 'files.chat_key')
    .select('chats.consumer_id')
    .where('files.integration_id', '=', p.integrationId)
    .where('files.path', '=', p.path)
    .where('files.freed_at', 'is', null),
);

export const announceFile = insertInto('announced_files', ['chat_key', 'path'], {
  unlessExists: ['chat_key', 'path'],
});

export const deleteAnnounced = statement('delete announced', (db, p: { chatKey: ChatKey }) =>
  db.deleteFrom('announced_files').where('chat_key', '=', p.chatKey),
);
