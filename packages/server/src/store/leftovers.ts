import type { IntegrationId } from '../domain/ids.ts';
import { statement } from './statement.ts';
import type { Store, Tx } from './store.ts';

/*
 * On the embedded store a deleted row stays in the database's file until a rewrite. An erasure that finds nothing but
 * its person's id has to know whether rows of the person were deleted before, by a DELETE or by a sweep. No row tells
 * that of a person, so `leftovers` of the integration does:
 *
 *   0 ──(member rows, forms or files are deleted)──▶ 1 ──(rewrite begins)──▶ 2 ──(rewritten)──▶ 0
 *                                                        ▲────(rows are deleted)─┘
 *
 * PostgreSQL removes deleted rows in its own time, so nothing is recorded there.
 */

const markLeftovers = statement('mark leftovers', (db, p: { integrationId: IntegrationId }) =>
  db
    .updateTable('integrations')
    .set({ leftovers: 1 })
    .where('integration_id', '=', p.integrationId)
    .where('leftovers', '<>', 1),
);

/** Call it in the transaction that deletes rows of these integrations. */
export async function noteLeftovers(store: Store, tx: Tx, integrationIds: Iterable<IntegrationId>): Promise<void> {
  if (store.kind === 'postgres') return;
  for (const integrationId of new Set(integrationIds)) await tx.run(markLeftovers, { integrationId });
}

/** Call it before a rewrite. */
export const beginRewrite = statement('begin rewrite', (db, _: Record<string, never>) =>
  db.updateTable('integrations').set({ leftovers: 2 }).where('leftovers', '=', 1),
);

/** Call it after the rewrite. Rows that were deleted since `beginRewrite` count for the next one. */
export const endRewrite = statement('end rewrite', (db, _: Record<string, never>) =>
  db.updateTable('integrations').set({ leftovers: 0 }).where('leftovers', '=', 2),
);
