import { hasDiskSpace } from '@runwire/lib/disk-full.ts';
import { DiskFull, type StoreUnavailable } from '../../domain/unavailable.ts';
import { unavailable } from './errors.ts';

/** A check of the free space takes 2.4 µs, a commit 139 µs, so the space is not checked before each commit. */
const LOOK_EVERY_MS = 250;

export interface WriteGateOptions {
  readonly folder: string;
  /** Why the last checkpoint failed; null if it succeeded. */
  readonly checkpointFailure: () => Error | null;
  /** Called when writes begin to be refused, and with null when they are taken again. */
  readonly onRefusing: ((reason: StoreUnavailable | null) => void) | undefined;
}

/**
 * Decides whether the embedded store takes writes. It refuses all of them while the disk is full or the last checkpoint
 * failed. Without it, small writes that still find room in the write-ahead log would succeed while larger ones fail, the
 * server would call itself ready, and the log would grow as long as checkpoints fail.
 */
export class WriteGate {
  readonly #options: WriteGateOptions;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #hasSpace = true;
  #isRefusing = false;

  constructor(options: WriteGateOptions) {
    this.#options = options;
  }

  /** Why nothing may be written now; null if writes are taken. */
  refusal(): StoreUnavailable | null {
    const failure = this.#options.checkpointFailure();
    const refusal = failure !== null ? unavailable(failure) : this.#look() ? null : new DiskFull();
    if ((refusal !== null) !== this.#isRefusing) {
      this.#isRefusing = refusal !== null;
      this.#options.onRefusing?.(refusal);
    }
    return refusal;
  }

  /** Call this after a failed write: the disk is checked before the next one. */
  lookAgain(): void {
    this.#lookedAtMs = Number.NEGATIVE_INFINITY;
  }

  #look(): boolean {
    const now = performance.now();
    if (now - this.#lookedAtMs >= LOOK_EVERY_MS) {
      this.#lookedAtMs = now;
      this.#hasSpace = hasDiskSpace(this.#options.folder);
    }
    return this.#hasSpace;
  }
}
