import type { Kysely } from 'kysely';
import type { Schema } from '../schema.ts';
import { statement } from '../statement.ts';

export const insertForm = statement(
  'insert form',
  (
    db,
    p: {
      integrationId: string;
      formId: string;
      path: string;
      sizeBytes: number;
      signedAt: number;
      expiresAt: number;
    },
  ) =>
    db.insertInto('upload_forms').values({
      integration_id: p.integrationId,
      form_id: p.formId,
      path: p.path,
      size_bytes: p.sizeBytes,
      signed_at: p.signedAt,
      expires_at: p.expiresAt,
    }),
);

/** For each path, the largest upload that a form allows, among the forms that had not expired at `since`. */
export const promisedBytes = statement('promised bytes', (db, p: { integrationId: string; since: number }) =>
  db
    .selectFrom('upload_forms')
    .select((eb) => ['path', eb.fn.max('size_bytes').as('size_bytes')])
    .where('integration_id', '=', p.integrationId)
    .where('expires_at', '>', p.since)
    .groupBy('path'),
);

/** Finds a form whose file would be a folder of this path, or would need this path as a folder. */
export function formInTheWay(integrationId: string, path: string, since: number) {
  const above = [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
  return (db: Kysely<Schema>) =>
    db
      .selectFrom('upload_forms')
      .select('path')
      .where('integration_id', '=', integrationId)
      .where('expires_at', '>', since)
      .where((eb) =>
        eb.or([
          ...(above.length === 0 ? [] : [eb('path', 'in', above)]),
          // `0` is the character after `/`.
          eb.and([eb('path', '>', `${path}/`), eb('path', '<', `${path}0`)]),
        ]),
      )
      .limit(1);
}

/** Returns a row if there are forms to delete. */
export const oldForms = statement('old forms', (db, p: { until: number }) =>
  db.selectFrom('upload_forms').select('form_id').where('expires_at', '<=', p.until).limit(1),
);

export const deleteForms = statement('forget forms', (db, p: { until: number }) =>
  db.deleteFrom('upload_forms').where('expires_at', '<=', p.until),
);
