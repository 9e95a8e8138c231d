import { sql } from 'kysely';
import type { IntegrationId } from '../../domain/ids.ts';
import { insertInto, statement } from '../statement.ts';
import type { StoredPath } from '../stored-path.ts';
import type { FileRange } from './files.ts';
import { raw } from './raw.ts';

export const insertForm = insertInto('upload_forms', [
  'integration_id',
  'form_id',
  'path',
  'content_type',
  'size_bytes',
  'signed_at',
  'expires_at',
  'to_s3',
]);

/**
 * The bytes of the integration's files, and the bytes that the forms that were signed after `since` can add: a path counts
 * once, with the larger of its file and its largest form. If even all forms together fit into the quota, `promised` is their
 * sum: for 10 000 forms SQLite needs 2 ms, and 25 ms to compare each with its file. PostgreSQL needs 4 ms and 60 ms.
 */
export const usedBytes = statement(
  'used bytes',
  (db, p: { integrationId: IntegrationId; since: number; quotaBytes: number }) => {
    const isOpen = sql`integration_id = ${p.integrationId} and signed_at > ${p.since}`;
    return raw<{ files: number; promised: number }>(
      db,
      sql<{ files: number; promised: number }>`
        select i.file_bytes as files, cast(case when i.file_bytes + forms.bytes <= ${p.quotaBytes} then forms.bytes else (
          select sum(case when form.bytes > coalesce(f.size_bytes, 0) then form.bytes - coalesce(f.size_bytes, 0) else 0 end)
          from (
            select path, max(size_bytes) as bytes from upload_forms where ${isOpen} group by path
          ) form left join files f on f.integration_id = ${p.integrationId} and f.path = form.path and f.freed_at is null
        ) end as bigint) as promised
        from integrations i,
          (select cast(coalesce(sum(size_bytes), 0) as bigint) as bytes from upload_forms where ${isOpen}) forms
        where i.integration_id = ${p.integrationId}`,
    );
  },
);

/** Returns a row if the form was signed and not closed since. */
export const openForm = statement(
  'open form',
  (db, p: { integrationId: IntegrationId; path: StoredPath; expiresAt: number }) =>
    db
      .selectFrom('upload_forms')
      .select('form_id')
      .where('integration_id', '=', p.integrationId)
      .where('path', '=', p.path)
      .where('expires_at', '=', p.expiresAt)
      .limit(1),
);

/** The forms of an integration whose uploads may have arrived in S3. */
export const readForms = statement('forms of', (db, p: { integrationId: IntegrationId }) =>
  db
    .selectFrom('upload_forms')
    .select(['form_id', 'path', 'content_type', 'signed_at', 'settled_drop', 'version'])
    .where('integration_id', '=', p.integrationId)
    .where('to_s3', '=', 1),
);

interface FormKey {
  readonly integrationId: IntegrationId;
  readonly path: StoredPath;
  readonly formId: string;
}

export const findSettledDrop = statement('settled drop of', (db, p: FormKey) =>
  db
    .selectFrom('upload_forms')
    .select('settled_drop')
    .where('integration_id', '=', p.integrationId)
    .where('path', '=', p.path)
    .where('form_id', '=', p.formId),
);

/** Records that a drop is settled. Changes no row if the form has changed since this version of it was read. */
export const claimDrop = statement('claim drop', (db, p: FormKey & { version: number; drop: string }) =>
  db
    .updateTable('upload_forms')
    .set((eb) => ({ settled_drop: p.drop, version: eb('version', '+', 1) }))
    .where('integration_id', '=', p.integrationId)
    .where('path', '=', p.path)
    .where('form_id', '=', p.formId)
    .where('version', '=', p.version),
);

/** Call it when files are deleted: if S3 receives the same bytes for the same form again, that is a new upload. */
export const forgetSettledDrops = statement('forget settled drops', (db, p: FileRange) =>
  db
    .updateTable('upload_forms')
    .set((eb) => ({ settled_drop: null, version: eb('version', '+', 1) }))
    .where('integration_id', '=', p.integrationId)
    .where('path', '>=', p.from)
    .where('path', '<', p.to)
    .where('settled_drop', 'is not', null),
);

export const integrationsWithForms = statement('integrations with forms', (db, _: Record<string, never>) =>
  db.selectFrom('upload_forms').select('integration_id').distinct(),
);

/** Returns a row if there are forms to delete. */
export const oldForms = statement('old forms', (db, p: { integrationId: IntegrationId; until: number }) =>
  db
    .selectFrom('upload_forms')
    .select('form_id')
    .where('integration_id', '=', p.integrationId)
    .where('signed_at', '<=', p.until)
    .limit(1),
);

export const forgetForms = statement('forget forms', (db, p: { integrationId: IntegrationId; until: number }) =>
  db.deleteFrom('upload_forms').where('integration_id', '=', p.integrationId).where('signed_at', '<=', p.until),
);
