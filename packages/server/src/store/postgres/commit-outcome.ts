import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { CommitUnknown, StoreUnavailable } from '../../domain/unavailable.ts';
import { inTime } from '../../lib/in-time.ts';
import { translate, wasRefused } from './errors.ts';
import { type PostgresSettings, sessionConfig } from './settings.ts';

const LOOK_FOR_MS = 5000;
const LOOK_EVERY_MS = 100;
const LOOK_LATER_EVERY_MS = 1000;

type Outcome = 'committed' | 'aborted' | 'unknown';

/** Finds out what became of a transaction whose commit was not answered. */
export class CommitOutcomes implements Disposable {
  readonly #settings: PostgresSettings;
  readonly #lookForMs: number;
  readonly #closed = new AbortController();

  constructor(settings: PostgresSettings, lookForMs = LOOK_FOR_MS) {
    this.#settings = settings;
    this.#lookForMs = lookForMs;
  }

  /** After `commit` failed with this error. Returns where the transaction is in force, else throws why not, or that nobody knows. */
  async settle(xid: string, error: unknown): Promise<void> {
    if (wasRefused(error)) throw translate(error);
    const outcome = await this.#look(xid, this.#lookForMs, LOOK_EVERY_MS);
    if (outcome === 'committed') return;
    if (outcome === 'aborted') throw new StoreUnavailable('The database went away before the commit.');
    throw new CommitUnknown(
      this.#look(xid, Number.POSITIVE_INFINITY, LOOK_LATER_EVERY_MS).then((o) => o === 'committed'),
    );
  }

  async #look(xid: string, forMs: number, everyMs: number): Promise<Outcome> {
    const until = performance.now() + forMs;
    while (!this.#closed.signal.aborted) {
      const outcome = await this.#ask(xid, until - performance.now());
      if (outcome !== 'unknown') return outcome;
      if (performance.now() + everyMs > until) return 'unknown';
      await sleep(everyMs, undefined, { signal: this.#closed.signal }).catch(() => {});
    }
    return 'unknown';
  }

  /** On a connection of its own: all others may be as broken as the one that was lost. */
  async #ask(xid: string, withinMs: number): Promise<Outcome> {
    const client = new Client(sessionConfig(this.#settings));
    client.on('error', () => {});
    const answer = this.#answer(client, xid);
    try {
      // To connect and to be answered may each take seconds.
      return withinMs === Number.POSITIVE_INFINITY ? await answer : await inTime(answer, withinMs, () => 'unknown');
    } finally {
      client.end().catch(() => {});
    }
  }

  async #answer(client: Client, xid: string): Promise<Outcome> {
    try {
      await client.connect();
      const { rows } = await client.query<{ status: string | null }>('select pg_xact_status($1::xid8) as status', [
        xid,
      ]);
      const status = rows[0]?.status;
      // While it is in progress the server has not noticed yet that nobody listens: it will commit or give up.
      return status === 'committed' || status === 'aborted' ? status : 'unknown';
    } catch {
      return 'unknown';
    }
  }

  [Symbol.dispose](): void {
    this.#closed.abort();
  }
}
