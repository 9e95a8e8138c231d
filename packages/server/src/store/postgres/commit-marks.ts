import { randomBytes } from 'node:crypto';
import type { ClientBase } from 'pg';

/** If a transaction commits, its connection's row in `commit_marks` has this serial. */
export interface CommitMark {
  readonly process: string;
  readonly connection: number;
  readonly serial: number;
}

/** Identifies a transaction that wrote, in case its COMMIT is not answered. */
export interface CommitEvidence {
  readonly mark: CommitMark;
  /** Shows only whether the transaction is still in progress. After a crash another transaction may have this id. */
  readonly xid: string;
}

/**
 * While a snapshot is held, as by a backup, PostgreSQL keeps every version of a row and reads them all to find the newest:
 * a mark took 0.3 ms at first and 1.2 ms after 20 000 versions. With a new row after 1 000 it stays at 0.3 ms.
 */
const SERIALS_PER_ROW = 1000;

/**
 * Numbers this process's transactions. The transactions of one connection run one after the other, so no other
 * transaction ever waits for its row. The process's name is random, not its node's: a process has no node before it
 * registers, it is a new node after a fence, and a command is none.
 */
export class CommitMarks {
  readonly #process = randomBytes(8).toString('hex');
  readonly #latest = new WeakMap<ClientBase, CommitMark>();
  #connections = 0;

  next(client: ClientBase): CommitMark {
    const latest = this.#latest.get(client);
    const mark =
      latest === undefined || latest.serial >= SERIALS_PER_ROW
        ? { process: this.#process, connection: ++this.#connections, serial: 1 }
        : { ...latest, serial: latest.serial + 1 };
    this.#latest.set(client, mark);
    return mark;
  }
}
