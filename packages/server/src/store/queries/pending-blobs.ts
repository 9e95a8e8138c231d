import { sql } from 'kysely';
import { NODE_ALIVE } from '../schema.ts';
import { insertInto, statement } from '../statement.ts';
import type { ErasedPerson } from './erasures.ts';

export const insertPending = insertInto('pending_blobs', [
  'batch_id',
  'node_id',
  'integration_id',
  'erased_id',
  'path',
  'keys_json',
]);

/** Call it in the transaction that refers to the blobs. Changes no row if they were abandoned. */
export const claimPending = statement('claim pending', (db, p: { batchId: string }) =>
  db.deleteFrom('pending_blobs').where('batch_id', '=', p.batchId).where('abandoned', '=', 0),
);

/** After the commit no transaction can claim the blobs. Changes no row if they were claimed, or deleted by another node. */
export const abandonPending = statement('abandon pending', (db, p: { batchId: string }) =>
  db.updateTable('pending_blobs').set({ abandoned: 1 }).where('batch_id', '=', p.batchId),
);

/** Call it after the bytes were deleted. */
export const forgetPending = statement('forget pending', (db, p: { batchId: string }) =>
  db.deleteFrom('pending_blobs').where('batch_id', '=', p.batchId),
);

/** The blobs whose node is dead: it stopped, or other nodes fenced it. */
export const deadPending = statement('dead pending', (db, p: { limit: number }) =>
  db
    .selectFrom('pending_blobs')
    .select(['batch_id', 'keys_json'])
    .where(
      sql<boolean>`not exists (select 1 from nodes
        where nodes.node_id = pending_blobs.node_id and nodes.dead = ${sql.lit(NODE_ALIVE)})`,
    )
    .limit(p.limit),
);

/** Returns a row if blobs of the person are pending. */
export const pendingOfPerson = statement('pending of person', (db, p: ErasedPerson) =>
  db
    .selectFrom('pending_blobs')
    .select('batch_id')
    .where('integration_id', '=', p.integrationId)
    .where('erased_id', '=', p.erasedId)
    .limit(1),
);
