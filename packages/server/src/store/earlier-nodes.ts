import { WakeableLoop } from '@runwire/lib/wakeable-loop.ts';
import { type Kysely, sql } from 'kysely';
import { GENERATION_WITH_ROLES } from './generation.ts';
import { raw } from './queries/raw.ts';
import { NODE_ALIVE } from './schema.ts';
import type { Store, StoreKind } from './store.ts';

/**
 * Tells whether nodes of the version before are alive. What such a node could not read, or would break, is written as that
 * version writes it. Once false, it stays false.
 */
export interface EarlierNodes {
  areAlive(): boolean;
}

/** For the embedded store, which has one node. */
export const noEarlierNodes: EarlierNodes = { areAlive: () => false };

/** Indexes that only the version before uses. */
const INDEXES = ['runs_active_chat', 'runs_active_member', 'runs_finished', 'runs_to_compact'];
/** Functions whose triggers write for nodes of the version before. */
const TRIGGERS = [
  'track_run',
  'queue_uncounted_run',
  'keep_erased_usage',
  'keep_erased_measures',
  'follow_owner',
  'delete_chat_states',
];

/** Drops what only nodes of the version before need. Idempotent. */
export async function dropSuperseded(db: Kysely<never> | Kysely<unknown>, kind: StoreKind): Promise<void> {
  for (const statement of supersededSql(kind)) await statement.execute(db);
}

const supersededSql = (kind: StoreKind) => [
  ...INDEXES.map((name) => sql`drop index if exists ${sql.ref(name)}`),
  ...(kind === 'postgres' ? TRIGGERS.map((name) => sql`drop function if exists ${sql.ref(name)}() cascade`) : []),
];

const REFUSED = 'nodes_generation_roles';
const isEarlier = sql<boolean>`generation < ${sql.lit(GENERATION_WITH_ROLES)}`;

/**
 * A database with this constraint refuses to register a node of an earlier version. Such a node may have started while the
 * first new node migrated, or register again after it was fenced. PostgreSQL refuses the constraint while one is alive.
 */
const refuse = sql`alter table nodes add constraint ${sql.ref(REFUSED)}
  check (not ${isEarlier} or dead <> ${sql.lit(NODE_ALIVE)})`;
const earlierNode = sql<{ node_id: string }>`select node_id from nodes
  where ${isEarlier} and dead = ${sql.lit(NODE_ALIVE)} limit 1`;

/** For a migration on PostgreSQL. Returns false if nodes of the version before are alive. */
export async function refuseEarlierNodes(db: Kysely<unknown>): Promise<boolean> {
  // The migration has added a column to this table, so no other transaction can change it.
  if ((await earlierNode.execute(db)).rows.length > 0) return false;
  await refuse.execute(db);
  return true;
}

/** True if the database refuses nodes of the version before. */
export async function areEarlierNodesRefused(db: Kysely<unknown>): Promise<boolean> {
  const found = sql`select 1 from pg_constraint where conname = ${REFUSED} and conrelid = 'nodes'::regclass`;
  return (await found.execute(db)).rows.length > 0;
}

interface Remains {
  /** True if the database refuses nodes of the version before. */
  refuses: boolean;
  alive: boolean;
  /** True if something exists that only the version before needs. */
  superseded: boolean;
}

const remains = sql<Remains>`select
  exists (select 1 from pg_constraint where conname = ${REFUSED} and conrelid = 'nodes'::regclass) as refuses,
  exists (${earlierNode}) as alive,
  exists (select 1 from pg_class where relname in (${sql.join(INDEXES)}) and relnamespace = current_schema()::regnamespace)
    or exists (select 1 from pg_proc where proname in (${sql.join(TRIGGERS)})
      and pronamespace = current_schema()::regnamespace) as superseded`;

/** Longer waits for a table would hold up the transactions that wait after this one. */
const brieflyWaiting = sql`set local lock_timeout = '300ms'`;

/**
 * Watches the nodes of the version before on PostgreSQL:
 *
 *   alive ──(the last one has ended)──▶ refused: none can register again ──▶ dropped: indexes and triggers for them
 */
export class EarlierNodesWatch implements EarlierNodes, AsyncDisposable {
  readonly #store: Store;
  readonly #loop: WakeableLoop;
  readonly #onError: (error: unknown) => void;
  #alive = true;
  #done = false;

  constructor(store: Store, periodMs: number, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onError = onError;
    this.#loop = new WakeableLoop(periodMs, () => this.look(), onError);
  }

  areAlive(): boolean {
    return this.#alive;
  }

  /** Resolves after the first look. */
  async start(): Promise<void> {
    await this.look().catch(this.#onError);
    if (!this.#done) this.#loop.start();
  }

  async look(): Promise<void> {
    if (this.#done) return;
    const found = await this.#find();
    if (!found.refuses) {
      if (found.alive) return;
      await this.#change([refuse]).catch(async (error: unknown) => {
        // Another node may have added the constraint concurrently.
        if (!(await this.#find()).refuses) throw error;
      });
    }
    this.#alive = false;
    if (found.superseded) await this.#change(supersededSql('postgres'));
    this.#done = true;
    // Not awaited: the loop may be the caller.
    void this.#loop[Symbol.asyncDispose]();
  }

  async #find(): Promise<Remains> {
    const [found] = await this.#store.reads.query((db) => raw(db, remains));
    return found ?? { refuses: false, alive: true, superseded: true };
  }

  async #change(statements: readonly ReturnType<typeof sql>[]): Promise<void> {
    await this.#store.transact('lease', async (tx) => {
      for (const statement of [brieflyWaiting, ...statements]) await tx.query((db) => raw(db, statement));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }
}
