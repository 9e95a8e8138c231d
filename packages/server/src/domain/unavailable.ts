/** The store cannot take writes now and may later; nothing of what was asked happened, unless it is `CommitUnknown`. */
export class StoreUnavailable extends Error {
  override readonly name: string = 'StoreUnavailable';
}

/** The disk of the data folder has no space left. */
export class DiskFull extends StoreUnavailable {
  override readonly name = 'DiskFull';
  /** The same code as in the errors of the system. */
  readonly code = 'ENOSPC';

  constructor(cause?: unknown) {
    super('The disk of the data folder is full; free some space.', { cause });
  }
}

/** The others took this node for dead: nothing is written under its old identity any more. */
export class NodeFenced extends StoreUnavailable {
  override readonly name = 'NodeFenced';
}

/** The commit was sent and its answer lost: what was asked may have happened, whole, or not at all. */
export class CommitUnknown extends StoreUnavailable {
  override readonly name = 'CommitUnknown';
  /** Settles when it is known whether it happened, or with false when the store is closed. */
  readonly happened: Promise<boolean>;

  constructor(happened: Promise<boolean>) {
    super('The answer to a commit was lost, and its outcome could not be read back from the database.');
    this.happened = happened;
  }
}
