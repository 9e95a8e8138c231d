import { statement } from '../statement.ts';

export const keptMark = statement('kept mark', (db, _: Record<string, never>) =>
  db.selectFrom('blob_folder').select('mark').where('id', '=', 1),
);

/** Of several nodes that make one at once, one does. */
export const keepMarkOnce = statement('keep mark once', (db, p: { mark: string }) =>
  db
    .insertInto('blob_folder')
    .values({ id: 1, mark: p.mark })
    .onConflict((c) => c.column('id').doNothing()),
);
