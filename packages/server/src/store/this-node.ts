/** What a process is to the others: its row in `nodes`. */
export interface NodeIdentity {
  readonly nodeId: string;
  readonly boot: string;
}

/**
 * Which node this process is. The identity changes when others took it for dead and it registers anew: whatever ran
 * under the old one is given up in the same step, and nothing of it may be written under the new one.
 */
export class ThisNode {
  #identity: NodeIdentity | null = null;

  /** Null before it is registered, and after it was lost until it is registered anew. */
  get identity(): NodeIdentity | null {
    return this.#identity;
  }

  /** For rows that name their node. Without an identity no transaction that writes one is begun. */
  get nodeId(): string {
    return this.#identity?.nodeId ?? '';
  }

  registered(identity: NodeIdentity): void {
    this.#identity = identity;
  }

  lost(): void {
    this.#identity = null;
  }
}
