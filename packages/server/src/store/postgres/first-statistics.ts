/** The tables of the request path whose rows several indexes find. */
const TABLES = ['chats', 'members', 'messages', 'runs', 'usage_days'];
/** By then the tables have enough rows for useful statistics. */
const ADMISSIONS = 64;

/**
 * Lets PostgreSQL analyze the tables of a fresh database early. Autovacuum does so after up to a minute. Until then all
 * indexes of a table seem equally good, and a connection keeps the plan that it made first: the facts of an admission were
 * read by an index of all runs of the integration, so each admission took longer than the one before.
 */
export class FirstStatistics {
  readonly #ask: (text: string) => Promise<readonly { readonly name: string }[]>;
  #admissions = 0;

  constructor(ask: (text: string) => Promise<readonly { readonly name: string }[]>) {
    this.#ask = ask;
  }

  /** Called for each admission. A failure has no effect: autovacuum follows. */
  admitted(): void {
    this.#admissions += 1;
    if (this.#admissions === ADMISSIONS) this.#analyze().catch(() => {});
  }

  async #analyze(): Promise<void> {
    const names = TABLES.map((name) => `'${name}'`).join(', ');
    const missing = await this.#ask(
      `select relname as name from pg_class where relname in (${names}) and reltuples < 0
        and relnamespace = current_schema()::regnamespace`,
    );
    // Another node may be doing the same.
    for (const { name } of missing) await this.#ask(`analyze (skip_locked) ${name}`);
  }
}
