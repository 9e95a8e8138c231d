import { FairBudget } from '@runwire/lib/fair-budget.ts';
import { PageTurns } from '@runwire/lib/page-turns.ts';
import { AccountChanges } from '../accounts/accounts-version.ts';
import { Authentication } from '../accounts/authenticate.ts';
import { ClientTokenSigning } from '../accounts/client-token-signing.ts';
import { ConsoleTokenSigning } from '../accounts/console-token-signing.ts';
import { KeySigning } from '../accounts/key-signing.ts';
import { IntegrationOwnership } from '../accounts/owned-integration.ts';
import { LargePages } from '../store/large-pages.ts';
import { readsWithTimeout } from '../store/reads-with-timeout.ts';
import type { Store } from '../store/store.ts';
import type { Foundation } from './foundation.ts';

export interface OpenedAccounts {
  readonly changes: AccountChanges;
  readonly signing: KeySigning;
  readonly clientSigning: ClientTokenSigning;
  readonly consoleSigning: ConsoleTokenSigning;
  readonly authentication: Authentication;
  readonly ownership: IntegrationOwnership;
  /** Reads that wait a while for a store that does not answer. */
  readonly reads: Store['reads'];
  /** Makes a budget of which one owner gets at most half if there are several owners. */
  readonly newBudget: (total: number) => FairBudget;
  /** Shares the event loop between loops that read page by page. */
  readonly turns: PageTurns;
  readonly pages: LargePages;
}

/** How many pages are read at a time if the store answers from another process: less than its pool has connections. */
const CONCURRENT_PAGES = 4;

/** Opens what tells who a caller is, what it may use, and what its fair share is. */
export async function openAccounts(foundation: Foundation): Promise<OpenedAccounts> {
  const { store, secret, secrets, limits, overrides, logger, stack } = foundation;
  const changes = stack.use(new AccountChanges(store, limits, logger));
  await changes.look();
  const newBudget = overrides.newBudget ?? ((total: number) => new FairBudget(total, () => changes.hasSeveralOwners));
  const turns = overrides.turns ?? new PageTurns(store.kind === 'sqlite' ? 1 : CONCURRENT_PAGES);
  const signing = new KeySigning(secret);
  const clientSigning = new ClientTokenSigning(secret, secrets.apiKeyHash);
  const consoleSigning = new ConsoleTokenSigning(secret);
  const reads = readsWithTimeout(store.reads, limits.accountsPatienceMs);
  const authentication = new Authentication({
    store,
    reads,
    signing,
    clientSigning,
    consoleSigning,
    opaqueKeyHash: secrets.apiKeyHash,
    changes,
    maxVerified: limits.verifiedTokens,
    logger,
  });
  return {
    changes,
    signing,
    clientSigning,
    consoleSigning,
    authentication,
    ownership: new IntegrationOwnership(reads, changes),
    reads,
    newBudget,
    turns,
    pages: new LargePages(turns, newBudget(limits.pagesBytes)),
  };
}
