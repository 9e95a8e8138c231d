import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Copies rows of the embedded store, because requests for all of them would take minutes. */
export class RowCopies {
  readonly #database: DatabaseSync;

  constructor(dataDir: string) {
    this.#database = new DatabaseSync(join(dataDir, 'runwire.db'), { timeout: 30_000 });
  }

  /** `changes` are expressions; `n` counts the copies from 1. */
  copy(table: string, where: string, count: number, changes: Readonly<Record<string, string>>): void {
    const columns = this.#database.prepare(`pragma table_info(${table})`).all() as { name: string }[];
    const names = columns.map(({ name }) => `"${name}"`).join();
    const values = columns.map(({ name }) => changes[name] ?? `"${name}"`).join();
    this.#database.exec(`insert into ${table} (${names})
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
      select ${values} from ${table}, numbers where ${where}`);
  }

  change(statement: string): void {
    this.#database.exec(statement);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

/** A column's value with the number of its copy. */
export const numbered = (column: string, number = 'n') => `"${column}" || substr('0000000' || ${number}, -7)`;
