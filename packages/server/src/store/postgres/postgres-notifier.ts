import { Client } from 'pg';
import type { Hint, Notifier } from '../notifier.ts';
import { CHANNEL, readHint } from './hints.ts';
import { type PostgresSettings, sessionConfig } from './settings.ts';

const AGAIN_MS = 1000;

/** Listens on its own connection and reconnects if it is lost. Hints that are sent before the reconnect are lost. */
export class PostgresNotifier implements Notifier {
  readonly #settings: PostgresSettings;
  readonly #listeners = new Set<(hint: Hint) => void>();
  #client: Client | null = null;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(settings: PostgresSettings) {
    this.#settings = settings;
    void this.#connect();
  }

  listen(onHint: (hint: Hint) => void): () => void {
    this.#listeners.add(onHint);
    return () => this.#listeners.delete(onHint);
  }

  async #connect(): Promise<void> {
    this.#timer = null;
    const client = new Client(sessionConfig(this.#settings));
    this.#client = client;
    client.on('error', () => this.#lost(client));
    client.on('end', () => this.#lost(client));
    client.on('notification', ({ payload = '' }) => this.#heard(payload));
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
    } catch {
      this.#lost(client);
    }
  }

  #heard(payload: string): void {
    const hint = readHint(payload);
    if (hint === null) return;
    for (const onHint of [...this.#listeners]) onHint(hint);
  }

  #lost(client: Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    client.end().catch(() => {});
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.#connect(), AGAIN_MS);
    this.#timer.unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => {});
  }
}
