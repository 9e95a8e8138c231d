/** A process's row in `nodes`. */
export interface NodeIdentity {
  readonly nodeId: string;
  readonly boot: string;
}

/**
 * The node that this process is. If other nodes mark it as dead, it registers again with a new identity. Runs of the
 * old identity are given up in the same step, and nothing of them may be written under the new one.
 */
export class ThisNode {
  #identity: NodeIdentity | null = null;

  /** Null before the registration, and between the loss of an identity and the next registration. */
  get identity(): NodeIdentity | null {
    return this.#identity;
  }

  /** The id for rows that name their node. No transaction that writes such a row begins without an identity. */
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
