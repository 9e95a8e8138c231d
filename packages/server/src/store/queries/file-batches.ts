import { sql } from 'kysely';
import type { MountPath } from '../../domain/file/mount-path.ts';
import type { ChatKey, IntegrationId } from '../../domain/ids.ts';
import { statement } from '../statement.ts';
import type { StoredPath } from '../stored-path.ts';
import { AFTER_FOLDER, BEFORE_SEGMENT, type FileRow, fileColumns, storedPath } from './files.ts';
import { raw } from './raw.ts';

/*
 * Statements over many files. Each gets its files as one JSON text, so that the number of statements in a transaction does
 * not depend on the number of files. `json_each` of an object and `->>` mean the same in SQLite and in PostgreSQL.
 */

/** Rows as JSON for `json_each`. */
export type JsonRows = string;

export const jsonRows = (rows: readonly object[]): JsonRows => JSON.stringify({ ...rows });

export const jsonPaths = (paths: Iterable<MountPath>): JsonRows =>
  jsonRows(Array.from(paths, (path) => ({ path: storedPath(path) })));

/** `cross join` keeps SQLite from reading all files of the integration for each row. */
export const filesAt = statement('files at', (db, p: { integrationId: IntegrationId; paths: JsonRows }) =>
  raw<FileRow>(
    db,
    sql<FileRow>`
      select ${sql.join(fileColumns.map((column) => sql.ref(`f.${column}`)))}
      from json_each(${p.paths}) as j cross join files as f
      where f.integration_id = ${p.integrationId} and f.path = j.value ->> 'path' and f.freed_at is null`,
  ),
);

/** Returns those of the paths that were announced in the chat. */
export const announcedAt = statement('announced at', (db, p: { chatKey: ChatKey; paths: JsonRows }) =>
  raw<{ path: StoredPath }>(
    db,
    sql<{ path: StoredPath }>`
      select a.path from json_each(${p.paths}) as j cross join announced_files as a
      where a.chat_key = ${p.chatKey} and a.path = j.value ->> 'path'`,
  ),
);

/**
 * Returns the files of which a new file would be a folder (`below` is one of them, `path` the new file), and the files that
 * are at one of `folders`, the folders of the new files (`path` is null).
 */
export const filesInTheWay = statement(
  'files in the way',
  (db, p: { integrationId: IntegrationId; paths: JsonRows; folders: JsonRows }) =>
    raw<PathInTheWay>(
      db,
      sql<PathInTheWay>`
        select path, other from (
          select j.value ->> 'path' as path, (
            select f.path from files as f where f.integration_id = ${p.integrationId} and f.freed_at is null
              and f.path >= (j.value ->> 'path') || ${BEFORE_SEGMENT} and f.path < (j.value ->> 'path') || ${AFTER_FOLDER}
            limit 1
          ) as other from json_each(${p.paths}) as j
        ) as below where other is not null
        union all
        select null as path, f.path as other from json_each(${p.folders}) as j cross join files as f
        where f.integration_id = ${p.integrationId} and f.path = j.value ->> 'path' and f.freed_at is null`,
    ),
);

/** The same for upload forms that were signed after `since`. */
export const formsInTheWay = statement(
  'forms in the way',
  (db, p: { integrationId: IntegrationId; paths: JsonRows; folders: JsonRows; since: number }) =>
    raw<PathInTheWay>(
      db,
      sql<PathInTheWay>`
        select path, other from (
          select j.value ->> 'path' as path, (
            select f.path from upload_forms as f where f.integration_id = ${p.integrationId} and f.signed_at > ${p.since}
              and f.path >= (j.value ->> 'path') || ${BEFORE_SEGMENT} and f.path < (j.value ->> 'path') || ${AFTER_FOLDER}
            limit 1
          ) as other from json_each(${p.paths}) as j
        ) as below where other is not null
        union all
        select null as path, f.path as other from json_each(${p.folders}) as j cross join upload_forms as f
        where f.integration_id = ${p.integrationId} and f.path = j.value ->> 'path' and f.signed_at > ${p.since}`,
    ),
);

export interface PathInTheWay {
  readonly path: StoredPath | null;
  readonly other: StoredPath;
}

export interface NewFileRow {
  readonly path: StoredPath;
  readonly blob: string;
  readonly size: number;
  readonly etag: string;
  readonly type: string;
  readonly modified: number;
  readonly signed: number | null;
  readonly chat: string | null;
}

/** `files`: `NewFileRow`s. */
export const insertFiles = statement('insert files', (db, p: { integrationId: IntegrationId; files: JsonRows }) =>
  raw<never>(
    db,
    sql<never>`
      insert into files
        (integration_id, path, blob_key, size_bytes, etag, content_type, modified_at, signed_at, chat_key, text_key)
      select ${p.integrationId}, j.value ->> 'path', j.value ->> 'blob', cast(j.value ->> 'size' as bigint),
        j.value ->> 'etag', j.value ->> 'type', cast(j.value ->> 'modified' as bigint),
        cast(j.value ->> 'signed' as bigint), j.value ->> 'chat', null
      from json_each(${p.files}) as j`,
  ),
);

/** The files do not exist any more. Their bytes can be read until the sweep deletes them. `blobs`: `{blob}`. */
export const freeFiles = statement('free files', (db, p: { blobs: JsonRows; now: number }) =>
  db
    .updateTable('files')
    .set({ freed_at: p.now })
    .where(sql<boolean>`blob_key in (select j.value ->> 'blob' from json_each(${p.blobs}) as j)`),
);

/** Like `forgetSettledDrops`, for these files. */
export const forgetSettledDropsAt = statement(
  'forget settled drops at',
  (db, p: { integrationId: IntegrationId; paths: JsonRows }) =>
    db
      .updateTable('upload_forms')
      .set((eb) => ({ settled_drop: null, version: eb('version', '+', 1) }))
      .where('integration_id', '=', p.integrationId)
      .where(sql<boolean>`path in (select j.value ->> 'path' from json_each(${p.paths}) as j)`)
      .where('settled_drop', 'is not', null),
);
