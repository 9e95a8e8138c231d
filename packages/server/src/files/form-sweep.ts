import { Sweep } from '../lib/sweep.ts';
import { forgetForms, oldForms } from '../store/queries/upload-forms.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Longer than any walk through a mount: one that is under way still counts what has expired since it began. */
const KEPT_AFTER_EXPIRY_MS = 3_600_000;

/** T7 of upload forms: those that expired long enough ago are forgotten. */
export class FormSweep extends Sweep {
  readonly #store: Store;

  constructor(store: Store, { sweepMs }: { readonly sweepMs: number }, logger: Logger) {
    super(sweepMs, 'expired upload forms', logger);
    this.#store = store;
  }

  /** Resolves to how many were forgotten. */
  protected override async sweepOnce(): Promise<number> {
    const until = Date.now() - KEPT_AFTER_EXPIRY_MS;
    // A look costs less than a commit, and most find nothing.
    if ((await this.#store.reads.all(oldForms, { until })).length === 0) return 0;
    return this.#store.transact('sweep', (tx) => tx.run(forgetForms, { until }));
  }
}
