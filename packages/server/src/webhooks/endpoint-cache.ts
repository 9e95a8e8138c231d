import type { IntegrationId } from '../domain/ids.ts';
import { integrationsWithEndpoints } from '../store/queries/webhook-endpoints.ts';
import type { Reads } from '../store/store.ts';

/** How this process learns that endpoints were made or deleted, also on other nodes. */
export interface EndpointChanges {
  watch(cache: { forget(): void }): void;
  readonly isCertain: boolean;
}

/**
 * Which integrations have endpoints, in memory. While this process may have missed a change, the answer is always yes, and
 * the caller reads the store. So an endpoint counts for everything that ends 5 s after it was made, on every node.
 */
export class EndpointCache {
  readonly #reads: Reads;
  #changes: EndpointChanges | null = null;
  readonly #onError: (error: unknown) => void;
  #known: ReadonlySet<IntegrationId> | null = null;
  #version = 0;

  constructor(reads: Reads, onError: (error: unknown) => void) {
    this.#reads = reads;
    this.#onError = onError;
  }

  /** Before this call the answer is always yes. */
  async follow(changes: EndpointChanges): Promise<void> {
    this.#changes = changes;
    changes.watch(this);
    await this.load();
  }

  mayHave(integrationId: IntegrationId): boolean {
    return this.#known === null || this.#known.has(integrationId) || this.#changes?.isCertain !== true;
  }

  /** False if no integration has an endpoint. */
  mayHaveAny(): boolean {
    return this.#known === null || this.#known.size > 0 || this.#changes?.isCertain !== true;
  }

  forget(): void {
    this.#version += 1;
    this.#known = null;
    this.load().catch(this.#onError);
  }

  async load(): Promise<void> {
    const version = this.#version;
    const rows = await this.#reads.all(integrationsWithEndpoints, {});
    // After another change the read may have returned what was true before it.
    if (version === this.#version) this.#known = new Set(rows.map((row) => row.integration_id));
  }
}
