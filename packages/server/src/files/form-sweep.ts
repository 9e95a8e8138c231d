import { Sweep } from '../lib/sweep.ts';
import { deleteForms, oldForms } from '../store/queries/upload-forms.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Longer than any measurement of a mount, which still counts forms that expired after it began. */
const KEPT_AFTER_EXPIRY_MS = 3_600_000;

/** The part of T7 for upload forms: deletes forms some time after they expired. */
export class FormSweep extends Sweep {
  readonly #store: Store;

  constructor(store: Store, { sweepMs }: { readonly sweepMs: number }, logger: Logger) {
    super(sweepMs, 'expired upload forms', logger);
    this.#store = store;
  }

  /** Resolves to the number of deleted forms. */
  protected override async sweepOnce(): Promise<number> {
    const until = Date.now() - KEPT_AFTER_EXPIRY_MS;
    // A read costs less than a commit, and most reads find nothing.
    if ((await this.#store.reads.all(oldForms, { until })).length === 0) return 0;
    return this.#store.transact('sweep', (tx) => tx.run(deleteForms, { until }));
  }
}
