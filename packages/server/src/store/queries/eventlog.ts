import { sql } from 'kysely';
import { statement } from '../statement.ts';
import { CHUNK_ORDER } from './locks.ts';

/**
 * Idempotent: a chunk keeps its bounds until its commit is acknowledged, so a second write after an unknown commit
 * changes nothing.
 */
export const insertChunk = statement(
  'insert chunk',
  (db, p: { runId: string; firstId: number; lastId: number; data: string }) =>
    db
      .insertInto('event_chunks')
      .values({ run_id: p.runId, first_id: p.firstId, last_id: p.lastId, data: p.data })
      .onConflict((c) => c.columns(['run_id', 'first_id']).doNothing()),
  { gathers: { order: CHUNK_ORDER, types: { firstId: 'bigint', lastId: 'bigint' } } },
);

export const chunkAfter = statement('chunk after', (db, p: { runId: string; after: number }) =>
  db
    .selectFrom('event_chunks')
    .select(['first_id', 'last_id', 'data'])
    .where('run_id', '=', p.runId)
    // The chunk that contains event `after + 1`, or the next one, found by the primary key.
    .where('first_id', '>=', (eb) =>
      eb.fn.coalesce(
        eb
          .selectFrom('event_chunks as c')
          .select('c.first_id')
          .where('c.run_id', '=', p.runId)
          .where('c.first_id', '<=', p.after)
          .where('c.last_id', '>', p.after)
          .orderBy('c.first_id', 'desc')
          .limit(1),
        sql<number>`cast(${p.after} as bigint) + 1`,
      ),
    )
    .orderBy('first_id')
    .limit(1),
);

export const allChunks = statement('all chunks', (db, p: { runId: string }) =>
  db
    .selectFrom('event_chunks')
    .select(['first_id', 'last_id', 'data'])
    .where('run_id', '=', p.runId)
    .orderBy('first_id'),
);

export const lastStoredId = statement('last stored id', (db, p: { runId: string }) =>
  db.selectFrom('event_chunks').select('last_id').where('run_id', '=', p.runId).orderBy('first_id', 'desc').limit(1),
);

export const deleteChunksOfChat = statement('delete chunks of chat', (db, p: { chatKey: string }) =>
  db
    .deleteFrom('event_chunks')
    .where('run_id', 'in', (eb) => eb.selectFrom('messages').select('run_id').where('chat_key', '=', p.chatKey)),
);

export const deleteStepsOfChat = statement('delete steps of chat', (db, p: { chatKey: string }) =>
  db
    .deleteFrom('steps')
    .where('run_id', 'in', (eb) => eb.selectFrom('messages').select('run_id').where('chat_key', '=', p.chatKey)),
);
