import { type ApiName, parseApiNames } from '../domain/account/compatible-apis.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { integrationById } from '../store/queries/accounts.ts';
import { first, type Reads } from '../store/store.ts';
import type { AccountCache } from './account-cache.ts';
import type { AccountChanges } from './accounts-version.ts';

/** An integration's settings that request readers need before admission. */
export interface CompatibleSettings {
  readonly apis: ReadonlySet<ApiName>;
  readonly agency: string;
  /** The model that the integration sets; null if it sets none. */
  readonly model: string | null;
  readonly defaultAgent: string;
  readonly clientTools: boolean;
  readonly callerInstructions: boolean;
  readonly autoRegister: boolean;
  readonly allowances: boolean;
}

/** Reads an integration's settings once per change of accounts. Other nodes see a change within 5 s. */
export class SettingsByIntegration {
  readonly #reads: Reads;
  readonly #cache: AccountCache<CompatibleSettings>;

  constructor(reads: Reads, changes: Pick<AccountChanges, 'cache'>) {
    this.#reads = reads;
    this.#cache = changes.cache(1000);
  }

  get(integrationId: IntegrationId): Promise<CompatibleSettings> {
    return this.#cache.get(integrationId, async () => {
      const row = await first(this.#reads.all(integrationById, { integrationId }));
      if (row === undefined) throw new Refusal('integration_not_found');
      return {
        apis: new Set(parseApiNames(row.compatible_apis)),
        agency: row.agency,
        model: row.model,
        defaultAgent: row.default_agent,
        clientTools: row.client_tools === 1,
        callerInstructions: row.caller_instructions === 1,
        autoRegister: row.auto_register === 1,
        allowances: row.allowance_unit !== null,
      };
    });
  }
}
