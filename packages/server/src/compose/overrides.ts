import type { AgencyDefinition } from '@runwire/agency';
import type { Network } from '@runwire/guarded-fetch';
import type { FairBudget } from '@runwire/lib/fair-budget.ts';
import type { PageTurns } from '@runwire/lib/page-turns.ts';
import type { HashCost } from '../accounts/password-turns.ts';
import type { Fault } from '../agencies/fault.ts';
import type { Model } from '../agent/ports.ts';
import type { healTurn } from '../chats/heal-history.ts';
import type { Limits } from '../config/limits.ts';
import type { WaitAt } from '../domain/wait-points.ts';
import type { checkForm } from '../files/post-policy/check-form.ts';
import type { BlobStore } from '../storage/blob-store.ts';
import type { Notifier } from '../store/notifier.ts';
import type { JudgeCommit } from '../store/postgres/commit-outcome.ts';
import type { DatabaseTimes } from '../store/postgres/settings.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

/** What tests and proofs use instead of the real parts, or in addition to them. */
export interface Overrides {
  readonly model?: Model;
  readonly agencies?: Readonly<Record<string, AgencyDefinition>>;
  /** Changes the faults of broken agencies. */
  readonly wrapFault?: (fault: Fault) => Fault;
  readonly limits?: Partial<Limits>;
  readonly databaseTimes?: DatabaseTimes;
  /** False if heartbeats share the event loop with the server: without their thread a start is cheaper. */
  readonly heartbeatThread?: boolean;
  /** The cost of password hashes. */
  readonly hashCost?: HashCost | undefined;
  readonly waitAt?: WaitAt;
  readonly judgeCommit?: JudgeCommit;
  readonly healTurn?: typeof healTurn;
  readonly checkForm?: typeof checkForm;
  readonly logger?: Logger;
  /** Serves the console from this folder, for example a build with a planted fault. */
  readonly consoleFolder?: string;
  /** Wraps the store, so that a proof can plant a fault. */
  readonly wrapStore?: (store: Store) => Store;
  /** Wraps the bytes of attachments and files. */
  readonly wrapBlobs?: (blobs: BlobStore) => BlobStore;
  /** Replaces the listener for hints of other nodes, so that a proof can drop them. */
  readonly notifier?: Notifier;
  /** Makes the budgets that owners share, so that a proof can plant a fault. */
  readonly newBudget?: (total: number) => FairBudget;
  /** Shares the event loop between loops over pages. */
  readonly turns?: PageTurns;
  /** Replaces the network over which attachments and authorization servers are reached. */
  readonly network?: Network;
  /** Replaces the clock of webhooks and schedules. */
  readonly clock?: () => number;
}
