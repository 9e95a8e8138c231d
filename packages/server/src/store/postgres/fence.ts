import { NodeFenced } from '../../domain/unavailable.ts';
import type { TransactionName } from '../../domain/wait-points.ts';
import { ANY_NODES } from '../store.ts';
import type { NodeIdentity, ThisNode } from '../this-node.ts';

export interface FenceOptions {
  /** Which node writes here; absent: none does, as in a command beside running servers, and nothing is fenced. */
  readonly node?: ThisNode;
  /** Told, before anybody else is, that a transaction found its node's row dead. */
  readonly onFenced?: (identity: NodeIdentity) => void;
}

/** As which node transactions are begun: as the one that this process was when they were handed in, or not at all. */
export class Fence {
  readonly #options: FenceOptions;

  constructor(options: FenceOptions) {
    this.#options = options;
  }

  /** Null: this transaction may be anybody's. Throws where this process is no node now. */
  handedIn(name: TransactionName): NodeIdentity | null {
    const { node } = this.#options;
    if (node === undefined || ANY_NODES.has(name)) return null;
    if (node.identity === null) throw new NodeFenced('This node is not registered with the others now.');
    return node.identity;
  }

  /** Throws where this process is another node by now: what was meant for the old one is not written as the new one. */
  check(as: NodeIdentity | null): void {
    if (as !== null && this.#options.node?.identity !== as) {
      throw new NodeFenced('The other nodes took this one for dead.');
    }
  }

  found(as: NodeIdentity | null): void {
    const { node, onFenced } = this.#options;
    if (as !== null && node?.identity === as) onFenced?.(as);
  }
}
