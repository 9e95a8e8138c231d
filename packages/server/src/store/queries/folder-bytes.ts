import { sql } from 'kysely';
import type { IntegrationId } from '../../domain/ids.ts';
import { statement } from '../statement.ts';
import type { StoredPath } from '../stored-path.ts';
import type { JsonRows } from './file-batches.ts';
import { AFTER_FOLDER, BEFORE_SEGMENT, type FileRange } from './files.ts';
import { raw } from './raw.ts';
import { soughtId } from './sought-id.ts';

/*
 * The files' sums below the member folders. A folder gets its row when its sum is needed for the first time;
 * every later change of its files updates the row. So a check reads one row, and not every file of the member.
 *
 * A node of an earlier version changes files and not these rows. It adds to `file_bytes` of the integration and not to
 * `counted_bytes`: while the two differ, no row of the integration is used. Bytes that it moves from one member to another
 * do not show there, so on PostgreSQL, on which nodes of several versions can run, a sweep deletes all rows once a day.
 */

/** Adds to the sums of folders that have a row. `folders`: `{path, bytes}`. */
export const addFolderBytes = statement(
  'add folder bytes',
  (db, p: { integrationId: IntegrationId; folders: JsonRows }) =>
    raw<never>(
      db,
      sql<never>`
      update folder_bytes set bytes = folder_bytes.bytes + cast(j.value ->> 'bytes' as bigint)
      from json_each(${p.folders}) as j
      where folder_bytes.integration_id = ${p.integrationId} and folder_bytes.folder = j.value ->> 'path'`,
    ),
);

/** Takes bytes from the sums of those of these folders that have a row. `paths`: `{path}`. */
export const takeFromFolders = statement(
  'take from folders',
  (db, p: { integrationId: IntegrationId; paths: JsonRows; bytes: number }) =>
    db
      .updateTable('folder_bytes')
      .set((eb) => ({ bytes: eb('bytes', '-', p.bytes) }))
      .where('integration_id', '=', p.integrationId)
      .where(sql<boolean>`folder in (select j.value ->> 'path' from json_each(${p.paths}) as j)`),
);

export const forgetFoldersIn = statement('forget folders in', (db, p: FileRange) =>
  db
    .deleteFrom('folder_bytes')
    .where('integration_id', '=', p.integrationId)
    .where('folder', '>=', p.from)
    .where('folder', '<', p.to),
);

export const forgetFolders = statement('forget folders', (db, p: { integrationId: IntegrationId }) =>
  db.deleteFrom('folder_bytes').where('integration_id', '=', p.integrationId),
);

/** The integrations with sums, in pages. */
export const integrationsWithFolders = statement(
  'integrations with folders',
  (db, p: { after: string; limit: number }) =>
    db
      .selectFrom('folder_bytes')
      .select('integration_id')
      .distinct()
      .where('integration_id', '>', soughtId<IntegrationId>(p.after))
      .orderBy('integration_id')
      .limit(p.limit),
);

/** Call it after `forgetFolders`: the rows that follow are right. */
export const trustFolders = statement('trust folders', (db, p: { integrationId: IntegrationId }) =>
  db
    .updateTable('integrations')
    .set((eb) => ({ counted_bytes: eb.ref('file_bytes') }))
    .where('integration_id', '=', p.integrationId),
);

const below = (folder: ReturnType<typeof sql>, table: string) =>
  sql`${sql.ref(`${table}.path`)} >= ${folder} || ${BEFORE_SEGMENT} and ${sql.ref(`${table}.path`)} < ${folder} || ${AFTER_FOLDER}`;

/** Sums the files below those of these folders that have no row. `folders`: `{path}`. */
export const countFolders = statement('count folders', (db, p: { integrationId: IntegrationId; folders: JsonRows }) =>
  raw<never>(
    db,
    sql<never>`
      insert into folder_bytes (integration_id, folder, bytes)
      select ${p.integrationId}, j.value ->> 'path', cast(coalesce((
        select sum(f.size_bytes) from files as f
        where f.integration_id = ${p.integrationId} and f.freed_at is null and ${below(sql`(j.value ->> 'path')`, 'f')}
      ), 0) as bigint)
      from json_each(${p.folders}) as j
      where not exists (
        select 1 from folder_bytes as c where c.integration_id = ${p.integrationId} and c.folder = j.value ->> 'path'
      )`,
  ),
);

export interface FolderUsage {
  readonly folder: StoredPath;
  readonly files: number;
  /** The bytes that the open forms below the folder can add: a path counts once, with its largest form. */
  readonly promised: number;
}

/**
 * Returns those of these folders whose files and forms exceed the quota. All of them have a row. Forms are compared with
 * their files only if their sum is too much: see `usedBytes`.
 */
export const fullFolders = statement(
  'full folders',
  (db, p: { integrationId: IntegrationId; folders: JsonRows; since: number; quotaBytes: number }) => {
    const isOpen = sql`u.integration_id = ${p.integrationId} and u.signed_at > ${p.since} and ${below(sql`c.folder`, 'u')}`;
    return raw<FolderUsage>(
      db,
      sql<FolderUsage>`
        select folder, files, promised from (
          select folder, files, cast(case when files + forms <= ${p.quotaBytes} then forms else (
            select coalesce(sum(case when form.bytes > coalesce(f.size_bytes, 0) then form.bytes - coalesce(f.size_bytes, 0)
              else 0 end), 0)
            from (select u.path, max(u.size_bytes) as bytes from upload_forms as u where ${isOpen} group by u.path) as form
            left join files as f on f.integration_id = ${p.integrationId} and f.path = form.path and f.freed_at is null
          ) end as bigint) as promised
          from (
            select c.folder, c.bytes as files, cast(coalesce((
              select sum(u.size_bytes) from upload_forms as u where ${isOpen}
            ), 0) as bigint) as forms
            from json_each(${p.folders}) as j cross join folder_bytes as c
            where c.integration_id = ${p.integrationId} and c.folder = j.value ->> 'path'
          ) as c
        ) as used where files + promised > ${p.quotaBytes}`,
    );
  },
);
