import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expectAtLeast } from './proof.ts';
import type { Rig } from './rig.ts';

/**
 * Counts how often a session of the rig's database waits for rows of another transaction, each wait once. Other locks do not
 * count: every transaction that notifies waits for a lock of the whole database.
 */
export class LockWaits implements AsyncDisposable {
  readonly #rig: Rig;
  readonly #client: pg.Client;
  readonly #seen = new Set<string>();
  readonly #watching: Promise<void>;
  #isClosed = false;

  private constructor(rig: Rig, client: pg.Client) {
    this.#rig = rig;
    this.#client = client;
    this.#watching = this.#watch();
  }

  static async start(rig: Rig): Promise<LockWaits> {
    const client = new pg.Client({ connectionString: rig.databaseUrl });
    await client.connect();
    return new LockWaits(rig, client);
  }

  async #watch(): Promise<void> {
    const text = `select l.pid, a.query_start::text as since from pg_locks l join pg_stat_activity a using (pid)
      where not l.granted and l.locktype in ('transactionid', 'tuple') and a.datname = current_database()`;
    for (; !this.#isClosed; await sleep(2)) {
      const { rows } = await this.#client.query({ name: 'waits', text });
      for (const { pid, since } of rows) this.#seen.add(`${pid} ${since}`);
    }
  }

  /** Counts lock waits, and transactions that were retried after a conflict in an index. Without either, nothing raced. */
  async figures(): Promise<{ lock_waits: number; retries: number }> {
    let retries = 0;
    for (const { api } of this.#rig.servers) {
      const { body } = await api.get('/metrics');
      const found = String(body).matchAll(/^runwire_store_conflicts_total\{[^}]*\} (\d+)$/gm);
      for (const [, value] of found) retries += Number(value);
    }
    expectAtLeast('lock waits and retries', this.#seen.size + retries, 1);
    return { lock_waits: this.#seen.size, retries };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#watching.catch(() => {});
    await this.#client.end();
  }
}
