import type { FilesKind } from '../schema.ts';
import { insertInto, statement } from '../statement.ts';

/** The valid mark's id. All other rows are drafts of starts that are in progress or failed. */
export const VALID_MARK_ID = 1;

/** The valid mark is first in this order. */
export const knownMarks = statement('known marks', (db, _: Record<string, never>) =>
  db.selectFrom('blob_folder').select(['id', 'mark', 'kind']).orderBy('id'),
);

export const draftMark = insertInto('blob_folder', ['id', 'mark']);

/** If several nodes make a mark concurrently, the first one is stored. */
export const storeMarkOnce = statement('keep mark once', (db, p: { mark: string; kind: FilesKind }) =>
  db
    .insertInto('blob_folder')
    .values({ id: VALID_MARK_ID, mark: p.mark, kind: p.kind })
    .onConflict((c) => c.column('id').doNothing()),
);

export const dropDraftMarks = statement('drop draft marks', (db, _: Record<string, never>) =>
  db.deleteFrom('blob_folder').where('id', '<>', VALID_MARK_ID),
);
