import { NodeFenced } from '../../domain/unavailable.ts';
import type { TransactionName } from '../../domain/wait-points.ts';
import { NODELESS_TRANSACTIONS } from '../store.ts';
import type { NodeIdentity, ThisNode } from '../this-node.ts';

export interface FenceOptions {
  /**
   * The node that writes through this store. If absent, nothing is fenced: a command beside running servers is no node.
   */
  readonly node?: ThisNode;
  /** Called, before the caller gets its error, if a transaction finds that its node is marked as dead. */
  readonly onFenced?: (identity: NodeIdentity) => void;
}

/**
 * Decides in the name of which node a transaction runs: the node that this process was when the transaction was handed
 * in.
 */
export class Fence {
  readonly #options: FenceOptions;

  constructor(options: FenceOptions) {
    this.#options = options;
  }

  /** Returns null if the transaction needs no node. Throws if this process is not registered as a node now. */
  identityFor(name: TransactionName): NodeIdentity | null {
    const { node } = this.#options;
    if (node === undefined || NODELESS_TRANSACTIONS.has(name)) return null;
    if (node.identity === null) throw new NodeFenced('This node is not registered now.');
    return node.identity;
  }

  /**
   * Throws if this process has become another node since then: work of the old node must not be written as the new one.
   */
  check(as: NodeIdentity | null): void {
    if (as !== null && this.#options.node?.identity !== as) {
      throw new NodeFenced('This node was fenced by another node.');
    }
  }

  found(as: NodeIdentity | null): void {
    const { node, onFenced } = this.#options;
    if (as !== null && node?.identity === as) onFenced?.(as);
  }
}
