import type { QueryConfig, QueryResult, QueryResultRow } from 'pg';
import type { Gathering, Statement } from '../statement.ts';
import { CALL } from './gathered-statement.ts';
import type { Statements } from './statements.ts';

interface CallResult {
  readonly rows: readonly QueryResultRow[];
  /** The number of changed rows. */
  readonly count: number;
}

interface Call {
  readonly params: unknown;
  readonly key: string;
  readonly resolve: (result: CallResult) => void;
  readonly reject: (error: unknown) => void;
}

interface Group {
  readonly statement: Statement<unknown, unknown>;
  readonly gathering: Gathering<unknown>;
  readonly calls: Call[];
  readonly keys: Set<string>;
}

/**
 * The calls of gathering statements that a transaction has not sent yet. They are sent when the current microtasks are
 * done, so everything that the jobs of a transaction issue in one turn is gathered, and immediately before a statement that
 * does not gather. With 32 concurrent runs this makes 3 statements of 16 per run.
 */
export class GatheredCalls {
  readonly #statements: Statements;
  readonly #ask: (query: QueryConfig) => Promise<QueryResult<QueryResultRow>>;
  readonly #groups = new Map<unknown, Group>();

  constructor(statements: Statements, ask: (query: QueryConfig) => Promise<QueryResult<QueryResultRow>>) {
    this.#statements = statements;
    this.#ask = ask;
  }

  add<P, R>(statement: Statement<P, R>, gathering: Gathering<P>, params: P): Promise<CallResult> {
    const key = gathering.key?.(params) ?? '';
    // A statement changes a row once, so a second change of the row is another statement.
    if (key !== '' && this.#groups.get(statement)?.keys.has(key) === true) this.send();
    let group = this.#groups.get(statement);
    if (group === undefined) {
      if (this.#groups.size === 0) process.nextTick(this.send);
      group = {
        statement: statement as Statement<unknown, unknown>,
        gathering: gathering as Gathering<unknown>,
        calls: [],
        keys: new Set(),
      };
      this.#groups.set(statement, group);
    }
    group.keys.add(key);
    const { calls } = group;
    return new Promise((resolve, reject) => calls.push({ params, key, resolve, reject }));
  }

  /** Groups of the same order keep the order of their first calls. */
  send = (): void => {
    if (this.#groups.size === 0) return;
    const groups = [...this.#groups.values()].sort((one, other) => one.gathering.order - other.gathering.order);
    this.#groups.clear();
    for (const group of groups) void this.#sendGroup(group);
  };

  async #sendGroup({ statement, gathering, calls }: Group): Promise<void> {
    try {
      const [call] = calls;
      if (calls.length === 1 && call !== undefined) {
        const { rows, rowCount } = await this.#ask(this.#statements.bound(statement, call.params));
        return call.resolve({ rows, count: rowCount ?? 0 });
      }
      if (gathering.key !== undefined) calls.sort((one, other) => (one.key < other.key ? -1 : 1));
      const params = calls.map((each) => each.params);
      const { query, tellsCalls } = this.#statements.gathered(statement, gathering, params);
      const { rows } = await this.#ask(query);
      const found = tellsCalls ? rowsByCall(rows, calls.length) : null;
      for (const [index, each] of calls.entries()) {
        const own = found === null ? [] : (found[index] ?? []);
        each.resolve({ rows: own, count: found === null ? 1 : own.length });
      }
    } catch (error) {
      for (const call of calls) call.reject(error);
    }
  }

  /** Sends nothing more: the transaction is being rolled back. */
  discard(error: unknown): void {
    for (const { calls } of this.#groups.values()) for (const call of calls) call.reject(error);
    this.#groups.clear();
  }
}

function rowsByCall(rows: readonly QueryResultRow[], calls: number): QueryResultRow[][] {
  const found: QueryResultRow[][] = Array.from({ length: calls }, () => []);
  for (const row of rows) {
    found[Number(row[CALL]) - 1]?.push(row);
  }
  return found;
}
