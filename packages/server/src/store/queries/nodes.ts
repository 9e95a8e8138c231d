import { sql } from 'kysely';
import { NODE_ALIVE, NODE_DEAD, NODE_RELEASED } from '../schema.ts';
import { statement } from '../statement.ts';

export const insertNode = statement(
  'insert node',
  (db, p: { nodeId: string; boot: string; version: string; now: number }) =>
    db.insertInto('nodes').values({
      node_id: p.nodeId,
      boot: p.boot,
      dead: NODE_ALIVE,
      version: p.version,
      started_at: p.now,
    }),
);

export const insertBeat = statement('insert beat', (db, p: { nodeId: string; now: number }) =>
  db.insertInto('node_beats').values({ node_id: p.nodeId, beat: 1, seen_at: p.now, draining: 0 }),
);

export const markOtherNodesDead = statement('mark other nodes dead', (db, p: { nodeId: string }) =>
  db.updateTable('nodes').set({ dead: NODE_DEAD }).where('node_id', '<>', p.nodeId).where('dead', '=', NODE_ALIVE),
);

/** Only a node that is still alive for the others can let go of its runs. */
export const releaseNode = statement('release node', (db, p: { nodeId: string }) =>
  db.updateTable('nodes').set({ dead: NODE_RELEASED }).where('node_id', '=', p.nodeId).where('dead', '=', NODE_ALIVE),
);

/** The fence: from its commit on nothing more is written by this node. One that has beaten meanwhile is left alone. */
export const fenceNode = statement('fence node', (db, p: { nodeId: string; beat: number }) =>
  db
    .updateTable('nodes')
    .set({ dead: NODE_DEAD })
    .where('node_id', '=', p.nodeId)
    .where('dead', '=', NODE_ALIVE)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('node_beats')
          .select(sql`1`.as('one'))
          .where('node_beats.node_id', '=', p.nodeId)
          .where('node_beats.beat', '=', p.beat),
      ),
    ),
);
