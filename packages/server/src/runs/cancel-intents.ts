import { WakeableLoop } from '@runwire/lib/wakeable-loop.ts';
import type { RunId } from '../domain/ids.ts';
import type { CancelMode } from '../domain/run-state.ts';
import type { Notifier } from '../store/notifier.ts';
import { cancelIntents } from '../store/queries/across-nodes.ts';
import type { Reads } from '../store/store.ts';
import type { ThisNode } from '../store/this-node.ts';
import type { Logger } from '../telemetry/logger.ts';

const POLL_MS = 1000;

export interface CancelIntentsDeps {
  readonly reads: Reads;
  readonly node: ThisNode;
  readonly notifier: Notifier;
  readonly activeRuns: () => number;
  readonly stop: (runId: RunId, mode: CancelMode) => boolean;
  readonly logger: Logger;
}

/** Stops the runs of this node that were cancelled on another node: after a hint, and by one query each second. */
export class CancelIntents implements AsyncDisposable {
  readonly #deps: CancelIntentsDeps;
  readonly #loop: WakeableLoop;
  readonly #unlisten: () => void;

  constructor(deps: CancelIntentsDeps) {
    this.#deps = deps;
    this.#loop = new WakeableLoop(
      POLL_MS,
      () => this.#look(),
      (error) => deps.logger.warn({ err: error }, 'cancels of other nodes could not be read; tried again each second'),
    );
    this.#loop.start();
    this.#unlisten = deps.notifier.listen((hint) => {
      if (hint.kind === 'cancel') this.#loop.wake();
    });
  }

  async #look(): Promise<void> {
    const { reads, node, activeRuns, stop } = this.#deps;
    if (activeRuns() === 0 || node.identity === null) return;
    // Repeated until the run has ended. Idempotent.
    for (const { run_id, cancel_mode } of await reads.all(cancelIntents, { nodeId: node.nodeId })) {
      stop(run_id, cancel_mode);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unlisten();
    await this.#loop[Symbol.asyncDispose]();
  }
}
