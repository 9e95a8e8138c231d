import { type FSWatcher, watch } from 'node:fs';
import { PROVIDERS_FILE } from '../domain/model/provider-entry.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Agencies } from './agencies.ts';
import { EVALS_FOLDER } from './evals/read-evals.ts';

/** An editor writes a file in several steps. */
const QUIET_MS = 200;
/** How long to wait if the store, which the check of an agency reads, is not available. */
const STORE_RETRY_MS = 2000;

/** What is read from `providers.yaml`. */
interface ReloadedModels {
  load(): Promise<void>;
}

/** Loads agencies and providers again after their files have changed. */
export class FolderWatch implements AsyncDisposable {
  readonly #agencies: Agencies;
  readonly #models: ReloadedModels;
  readonly #watcher: FSWatcher;
  readonly #changed = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #loading: Promise<void> = Promise.resolve();

  constructor(agencies: Agencies, models: ReloadedModels, folder: string, logger: Logger) {
    this.#agencies = agencies;
    this.#models = models;
    this.#watcher = watch(folder, { recursive: true }, (_event, file) => {
      const [name = '', below] = file?.split(/[\\/]/) ?? [];
      // Evals are not part of an agency.
      if (below === EVALS_FOLDER) return;
      // Without a name, everything may have changed.
      this.#changed.add(name);
      this.#reloadAfter(QUIET_MS, logger);
    });
    this.#watcher.on('error', (error) => logger.error({ err: error }, 'the folder of agencies cannot be watched'));
  }

  #reloadAfter(ms: number, logger: Logger): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#reload(logger), ms);
  }

  #reload(logger: Logger): void {
    const changed = [...this.#changed];
    this.#changed.clear();
    this.#loading = this.#loading
      .then(async () => {
        const isAnything = changed.includes('') || changed.includes(PROVIDERS_FILE);
        if (isAnything) await this.#models.load();
        // Every agency may name a model of a provider that has changed.
        if (isAnything) await this.#agencies.reload();
        else for (const id of changed) await this.#agencies.reload(id);
      })
      .catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) {
          logger.error({ err: error }, 'the folder of agencies cannot be read');
          return;
        }
        logger.warn({ err: error }, 'edited agencies cannot be checked without the store; they are loaded again later');
        for (const name of changed) this.#changed.add(name);
        this.#reloadAfter(STORE_RETRY_MS, logger);
      });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watcher.close();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#loading;
    // A reload that failed for lack of the store has set it again.
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}
