import type { QueryConfig, QueryResult, QueryResultRow } from 'pg';
import type { Gathering, Statement } from '../statement.ts';
import { CALL } from './gathered-statement.ts';
import type { Statements } from './statements.ts';
import { type Part, writtenTable } from './together.ts';

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
  /** The table that it writes to; null if the statement is not sent together with others. */
  readonly table: string | null;
}

/** How a transaction sends statements. */
interface Send {
  readonly one: (query: QueryConfig) => Promise<QueryResult<QueryResultRow>>;
  readonly together: (parts: readonly Part[]) => Promise<QueryResultRow>;
}

/**
 * The calls of gathering statements that a transaction has not sent yet. They are sent when the current microtasks are
 * done, so everything that the jobs of a transaction issue in one turn is gathered, and immediately before a statement that
 * does not gather. Writes to different tables are sent as one statement (`togetherText`).
 */
export class GatheredCalls {
  readonly #statements: Statements;
  readonly #send: Send;
  readonly #groups = new Map<unknown, Group>();

  constructor(statements: Statements, send: Send) {
    this.#statements = statements;
    this.#send = send;
  }

  add<P, R>(statement: Statement<P, R>, gathering: Gathering<P>, params: P, wantsRows: boolean): Promise<CallResult> {
    const key = gathering.key?.(params) ?? '';
    const table = wantsRows ? null : writtenTable(this.#statements.text(statement));
    // A statement changes a row once, so a second change of the row is another statement.
    if (key !== '' && this.#changes(statement, table, key)) this.send();
    let group = this.#groups.get(statement);
    if (group === undefined) {
      if (this.#groups.size === 0) process.nextTick(this.send);
      group = {
        statement: statement as Statement<unknown, unknown>,
        gathering: gathering as Gathering<unknown>,
        calls: [],
        keys: new Set(),
        table,
      };
      this.#groups.set(statement, group);
    }
    group.keys.add(key);
    const { calls } = group;
    return new Promise((resolve, reject) => calls.push({ params, key, resolve, reject }));
  }

  /** True if a call that was not sent yet changes the row with this key. */
  #changes(statement: unknown, table: string | null, key: string): boolean {
    for (const [known, group] of this.#groups) {
      if ((known === statement || (table !== null && group.table === table)) && group.keys.has(key)) return true;
    }
    return false;
  }

  /** Groups of the same order keep their first calls' order. */
  send = (): void => {
    if (this.#groups.size === 0) return;
    const groups = [...this.#groups.values()].sort((one, other) => one.gathering.order - other.gathering.order);
    this.#groups.clear();
    for (const each of combine(groups)) void this.#sendGroups(each);
  };

  async #sendGroups(groups: readonly Group[]): Promise<void> {
    for (const { gathering, calls } of groups) {
      if (gathering.key !== undefined) calls.sort((one, other) => (one.key < other.key ? -1 : 1));
    }
    try {
      const [group] = groups;
      if (groups.length === 1 && group !== undefined) await this.#sendGroup(group);
      else await this.#sendTogether(groups);
    } catch (error) {
      for (const { calls } of groups) for (const call of calls) call.reject(error);
    }
  }

  async #sendGroup({ statement, gathering, calls }: Group): Promise<void> {
    const [call] = calls;
    if (calls.length === 1 && call !== undefined) {
      const { rows, rowCount } = await this.#send.one(this.#statements.bound(statement, call.params));
      return call.resolve({ rows, count: rowCount ?? 0 });
    }
    const params = calls.map((each) => each.params);
    const { query, tellsCalls } = this.#statements.gathered(statement, gathering, params);
    const { rows } = await this.#send.one(query);
    const found = tellsCalls ? rowsByCall(rows, calls.length) : null;
    for (const [index, each] of calls.entries()) {
      const own = found === null ? [] : (found[index] ?? []);
      each.resolve({ rows: own, count: found === null ? 1 : own.length });
    }
  }

  async #sendTogether(groups: readonly Group[]): Promise<void> {
    const isLone = groups.every(({ calls }) => calls.length === 1);
    const row = await this.#send.together(groups.map((group) => this.#part(group, isLone)));
    for (const [part, { calls }] of groups.entries()) {
      const changed: unknown = row[`s${part}`];
      const called = Array.isArray(changed) ? changed.map(Number) : null;
      for (const [index, { resolve }] of calls.entries()) {
        const count = called === null ? 1 : called.filter((call) => call === index + 1).length;
        resolve({ rows: [], count: isLone ? Number(changed) : count });
      }
    }
  }

  #part({ statement, gathering, calls }: Group, isLone: boolean): Part {
    const params = calls.map((call) => call.params);
    const { query, tellsCalls } = isLone
      ? { query: this.#statements.bound(statement, params[0]), tellsCalls: false }
      : this.#statements.gathered(statement, gathering, params);
    // A statement's text has one name in all stores; a pooler's query has none.
    const name = `${statement.name}${isLone ? '' : ', gathered'}`;
    return { statement, name, text: query.text, values: query.values ?? [], tellsCalls };
  }

  /** Sends nothing more: the transaction is being rolled back. */
  discard(error: unknown): void {
    for (const { calls } of this.#groups.values()) for (const call of calls) call.reject(error);
    this.#groups.clear();
  }
}

/**
 * Returns which groups are sent as one statement, in their order. Two writes to one table are sent as one only if their keys
 * are known: `add` has made sure that they are different.
 */
function combine(groups: readonly Group[]): Group[][] {
  const combined: Group[][] = [];
  for (const group of groups) {
    const last = combined.at(-1);
    if (last?.every((other) => areCombined(other, group)) === true) last.push(group);
    else combined.push([group]);
  }
  return combined;
}

function areCombined(one: Group, other: Group): boolean {
  if (one.table === null || other.table === null) return false;
  return one.table !== other.table || (one.gathering.key !== undefined && other.gathering.key !== undefined);
}

function rowsByCall(rows: readonly QueryResultRow[], calls: number): QueryResultRow[][] {
  const found: QueryResultRow[][] = Array.from({ length: calls }, () => []);
  for (const row of rows) {
    found[Number(row[CALL]) - 1]?.push(row);
  }
  return found;
}
