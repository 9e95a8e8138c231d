import { administratorOnly } from '../domain/account/administrator-only.ts';
import type { Principal } from '../domain/account/principal.ts';
import type { NodeStats } from '../domain/node-stats.ts';
import { iso } from '../domain/time.ts';
import { listNodes, type NodeRow } from '../store/queries/nodes.ts';
import { type ListQuery, readPage } from '../store/read-page.ts';
import { NODE_ALIVE } from '../store/schema.ts';
import type { Store } from '../store/store.ts';
import type { ThisNode } from '../store/this-node.ts';

export interface NodesDeps {
  readonly store: Store;
  readonly node: ThisNode;
  /** True if the store has one node: the other rows are earlier starts of this node. */
  readonly isAlone: boolean;
  readonly isDraining: () => boolean;
  /** The figures of this node now. */
  readonly stats: () => NodeStats;
}

/** Lists the servers that share this installation, for its administrator. */
export class Nodes {
  readonly #deps: NodesDeps;

  constructor(deps: NodesDeps) {
    this.#deps = deps;
  }

  list(principal: Principal, query: ListQuery) {
    administratorOnly(principal);
    const { store, node, isAlone } = this.#deps;
    const position = (row: NodeRow) => ({ createdAt: row.started_at, id: row.node_id });
    const rows = listNodes(isAlone ? node.nodeId : null);
    return readPage(store.reads, query, rows, position, (row) => this.#json(row, Date.now()));
  }

  #json(row: NodeRow, now: number) {
    const { node, isAlone, isDraining, stats } = this.#deps;
    const self = row.node_id === node.nodeId;
    const draining = self ? isDraining() : row.draining === 1;
    // The embedded store has no heartbeats. This node is answering, so it is alive.
    const seenAt = isAlone ? now : row.seen_at;
    return {
      nodeId: row.node_id,
      boot: row.boot,
      state: row.dead !== NODE_ALIVE ? 'dead' : draining ? 'draining' : 'alive',
      self,
      version: row.version,
      host: row.host,
      address: row.address,
      startedAt: iso(row.started_at),
      // Null for a node of an earlier version that sends no heartbeats.
      lastSeenAt: seenAt === null || seenAt === 0 ? null : iso(seenAt),
      activeRuns: row.active_runs ?? 0,
      // Null until a node's second heartbeat, and for a node of an earlier version.
      stats: isAlone ? stats() : row.stats_json === null ? null : (JSON.parse(row.stats_json) as NodeStats),
    };
  }
}
