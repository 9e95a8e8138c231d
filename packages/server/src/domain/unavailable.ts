/** The store accepts no writes now and may do so later. Nothing was written, unless it is `CommitUnknown`. */
export class StoreUnavailable extends Error {
  override readonly name: string = 'StoreUnavailable';
}

/** The data folder's disk has no space left. */
export class DiskFull extends StoreUnavailable {
  override readonly name = 'DiskFull';
  /** The operating system's error code, so that callers check one code for both. */
  readonly code = 'ENOSPC';

  constructor(cause?: unknown) {
    super('The disk of the data folder is full; free some space.', { cause });
  }
}

/** Other nodes marked this node as dead. Nothing more is written under its old identity. */
export class NodeFenced extends StoreUnavailable {
  override readonly name = 'NodeFenced';
}

/** The commit was sent but not answered. The transaction may be committed or rolled back. */
export class CommitUnknown extends StoreUnavailable {
  override readonly name = 'CommitUnknown';
  /** Resolves when the outcome is known: true if it committed. Resolves to false if the store is closed before. */
  readonly happened: Promise<boolean>;

  constructor(happened: Promise<boolean>) {
    super('The answer to a commit was lost, and its outcome could not be read back from the database.');
    this.happened = happened;
  }
}
