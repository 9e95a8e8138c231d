import { type Kysely, sql } from 'kysely';
import { GENERATION } from '../generation.ts';
import { NODE_ALIVE, NODE_DEAD, NODE_RELEASED, type Schema } from '../schema.ts';
import { insertInto, statement } from '../statement.ts';
import { getPage, type Page } from './page.ts';

export const insertNode = insertInto('nodes', [
  'node_id',
  'boot',
  { dead: NODE_ALIVE },
  'version',
  'started_at',
  'host',
  'address',
  { generation: GENERATION },
]);

export const setNodeAddress = statement('set node address', (db, p: { nodeId: string; address: string }) =>
  db.updateTable('nodes').set({ address: p.address }).where('node_id', '=', p.nodeId),
);

export const insertHeartbeat = insertInto('node_beats', ['node_id', { beat: 1 }, 'seen_at', { draining: 0 }]);

export const markOtherNodesDead = statement('mark other nodes dead', (db, p: { nodeId: string }) =>
  db.updateTable('nodes').set({ dead: NODE_DEAD }).where('node_id', '<>', p.nodeId).where('dead', '=', NODE_ALIVE),
);

/** Only a node that other nodes consider alive can release its runs. */
export const releaseNode = statement('release node', (db, p: { nodeId: string }) =>
  db.updateTable('nodes').set({ dead: NODE_RELEASED }).where('node_id', '=', p.nodeId).where('dead', '=', NODE_ALIVE),
);

/**
 * Fences a node: after the commit nothing more is written by this node. Changes no row if the node's heartbeat was
 * raised since it was read.
 */
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

/** Returns a row if another node is alive. */
export const livePeer = statement('live peer', (db, p: { nodeId: string }) =>
  db.selectFrom('nodes').select('node_id').where('node_id', '<>', p.nodeId).where('dead', '=', NODE_ALIVE).limit(1),
);

/** Lists the nodes with the number of their unfinished runs. `only` restricts the list to one node. */
export const listNodes = (only: string | null) => (page: Page) => (db: Kysely<Schema>) => {
  const nodes = db
    .selectFrom('nodes')
    .leftJoin('node_beats', 'node_beats.node_id', 'nodes.node_id')
    .select([
      'nodes.node_id',
      'boot',
      'dead',
      'version',
      'started_at',
      'host',
      'address',
      'seen_at',
      'draining',
      'stats_json',
    ])
    .select((eb) =>
      eb
        .selectFrom('active_runs')
        .select((runs) => runs.fn.countAll<number>().as('count'))
        .whereRef('active_runs.node_id', '=', 'nodes.node_id')
        .as('active_runs'),
    );
  return getPage(only === null ? nodes : nodes.where('nodes.node_id', '=', only), page, 'started_at', 'nodes.node_id');
};

export type NodeRow = Awaited<ReturnType<ReturnType<ReturnType<ReturnType<typeof listNodes>>>['execute']>>[number];

/** Nodes that ended before `before` and have no runs left. */
export const endedNodes = statement('gone nodes', (db, p: { before: number }) =>
  db
    .selectFrom('nodes')
    .leftJoin('node_beats', 'node_beats.node_id', 'nodes.node_id')
    .select('nodes.node_id')
    .where('dead', '<>', NODE_ALIVE)
    .where('started_at', '<', p.before)
    .where(sql<boolean>`coalesce(seen_at, 0) < ${p.before}`)
    .where(sql<boolean>`not exists (select 1 from active_runs where active_runs.node_id = nodes.node_id)`)
    .limit(100),
);

export const deleteNode = statement('delete node', (db, p: { nodeId: string }) =>
  db.deleteFrom('nodes').where('node_id', '=', p.nodeId).where('dead', '<>', NODE_ALIVE),
);

export const deleteHeartbeat = statement('delete beat', (db, p: { nodeId: string }) =>
  db.deleteFrom('node_beats').where('node_id', '=', p.nodeId),
);

export const deleteNodeReaders = statement('delete readers of', (db, p: { nodeId: string }) =>
  db.deleteFrom('run_readers').where('node_id', '=', p.nodeId),
);

/**
 * Deletes marks that are too old to judge a COMMIT. If the connection is still open, its next transaction writes the
 * row again.
 */
export const deleteCommitMarks = statement('delete commit marks', (db, p: { before: number }) =>
  db.deleteFrom('commit_marks').where('raised_at', '<', p.before),
);
