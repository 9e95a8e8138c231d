import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeGroup } from '@runwire/test-kit';
import pg from 'pg';

const LOOK_MS = 2;

/** Transactions of all nodes that lost a race with another and were done again. */
export async function retriesOf({ nodes }: NodeGroup): Promise<number> {
  let count = 0;
  for (const { api } of nodes) {
    const { body } = await api.get('/metrics');
    for (const [, value] of String(body).matchAll(/^runwire_store_conflicts_total\{[^}]*\} (\d+)$/gm)) {
      count += Number(value);
    }
  }
  return count;
}

/**
 * Counts how often a session of a database was seen waiting for rows of another's transaction: each wait once. Other
 * locks do not count: every transaction that notifies waits for one of the whole database.
 */
export class LockWaits implements AsyncDisposable {
  readonly #client: pg.Client;
  readonly #seen = new Set<string>();
  readonly #watching: Promise<void>;
  #closed = false;

  private constructor(client: pg.Client) {
    this.#client = client;
    this.#watching = this.#watch();
  }

  static async start(url: string): Promise<LockWaits> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return new LockWaits(client);
  }

  get count(): number {
    return this.#seen.size;
  }

  async #watch(): Promise<void> {
    const text = `select l.pid, a.query_start::text as since from pg_locks l join pg_stat_activity a using (pid)
      where not l.granted and l.locktype in ('transactionid', 'tuple') and a.datname = current_database()`;
    for (; !this.#closed; await sleep(LOOK_MS)) {
      for (const { pid, since } of (await this.#client.query({ name: 'waits', text })).rows) {
        this.#seen.add(`${pid} ${since}`);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#watching.catch(() => {});
    await this.#client.end();
  }
}
