import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { QueryConfig } from 'pg';
import { NODE_ALIVE, type Schema } from '../schema.ts';
import { CompiledStatements, type Gathering, type Statement } from '../statement.ts';
import type { MemberLock, QueryOf } from '../store.ts';
import type { CommitMark } from './commit-marks.ts';
import { type GatheredStatement, gatherStatement } from './gathered-statement.ts';
import { PLANNING } from './settings.ts';
import { type Part, togetherText } from './together.ts';

/** Compiles queries for PostgreSQL and executes none. */
const compiler = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

const compiledStatements = new CompiledStatements();
const gatheredStatements = new Map<Statement<never, unknown>, GatheredStatement>();
/** PostgreSQL ignores the rest of a longer name. */
const MAX_NAME = 63;
/** By their parts' names. */
const togetherQueries = new Map<string, { readonly name: string; readonly text: string }>();

/** Locks a living node's row. No row if the node is dead or was never registered. */
const ALIVE = `alive as materialized (select 1 from nodes where node_id = $1 and dead = ${NODE_ALIVE} for share)`;

const SET_PLANNING = Object.entries(PLANNING)
  .map(([name, value]) => `set_config('${name}', '${value}', true)`)
  .join(', ');

const MARK = `insert into commit_marks (process, connection, serial, raised_at) values ($1, $2, $3, $4)
  on conflict (process, connection) do update set serial = excluded.serial, raised_at = excluded.raised_at
  returning pg_current_xact_id()::text as xid`;

const OPEN_WRITER = `with ${ALIVE}, mark as (${MARK.replace(/\$(\d)/g, (_, n) => `$${Number(n) + 1}`)})
  select (select count(*) from alive) as alive, (select xid from mark) as xid, ${SET_PLANNING}`;

const OPEN_EARLY = `${OPEN_WRITER}, set_config('synchronous_commit', 'off', true)`;

/** The integration FOR KEY SHARE, then the member, if there is one. */
const OPEN_ADMISSION = `with ${ALIVE}, i as materialized (
    select integration_id from integrations where integration_id = $2 for key share
  ), m as materialized (
    select m.consumer_id from members m join i on i.integration_id = m.integration_id
    where m.consumer_id = $3 for update of m
  ) select (select count(*) from alive) as alive, (select count(*) from i), (select count(*) from m), ${SET_PLANNING}`;

/** Takes the locks that no other transaction has, and returns the indices, from 1 on, of the members that it locked. */
const OPEN_ADMISSIONS = `with ${ALIVE}, f as materialized (
    select * from unnest($2::text[], $3::text[]) with ordinality as f(integration_id, consumer_id, call)
  ), i as materialized (
    select integration_id from integrations where integration_id = any($2::text[]) for key share skip locked
  ), m as materialized (
    select f.call from f join i on i.integration_id = f.integration_id
      join members m on m.integration_id = f.integration_id and m.consumer_id = f.consumer_id for update of m skip locked
  ) select (select count(*) from alive) as alive, array(
    select call from m union all
    select f.call from f join i on i.integration_id = f.integration_id where f.consumer_id is null) as locked`;

export interface GatheredQuery {
  readonly query: QueryConfig;
  /** See `GatheredStatement`. */
  readonly tellsCalls: boolean;
}

/** The queries of statements. A connection prepares a statement by its name when it first uses it. */
export class Statements {
  readonly #named: boolean;

  /** `named` is false if a pooler gives each transaction another connection. */
  constructor(named: boolean) {
    this.#named = named;
  }

  /** Writes the mark of the current transaction and returns the transaction's id. */
  mark({ process, connection, serial }: CommitMark): QueryConfig {
    return this.#own('mark', MARK, [process, connection, serial, Date.now()]);
  }

  /** Locks a living node's row. Returns no row if the node is dead or was never registered. */
  fence(nodeId: string): QueryConfig {
    return this.#own('fence', `with ${ALIVE} select count(*) as alive from alive`, [nodeId]);
  }

  /** Fence and mark in one statement. */
  openWriter(nodeId: string | null, { process, connection, serial }: CommitMark, isEarly: boolean): QueryConfig {
    const values = [nodeId, process, connection, serial, Date.now()];
    return isEarly ? this.#own('open early', OPEN_EARLY, values) : this.#own('open writer', OPEN_WRITER, values);
  }

  /** Fence and the locks of T1 in one statement. The locks of several admissions are taken without waiting. */
  openAdmission(nodeId: string | null, members: readonly MemberLock[]): QueryConfig {
    const [member] = members;
    if (members.length === 1 && member !== undefined) {
      return this.#own('open admission', OPEN_ADMISSION, storable([nodeId, member.integrationId, member.consumerId]));
    }
    const integrationIds = members.map(({ integrationId }) => integrationId);
    const consumerIds = members.map(({ consumerId }) => consumerId);
    return this.#own('open admissions', OPEN_ADMISSIONS, storable([nodeId, integrationIds, consumerIds]));
  }

  #own(name: string, text: string, values: unknown[]): QueryConfig {
    return this.#named ? { name, text, values } : { text, values };
  }

  /** One query for several calls of a statement. */
  gathered<P, R>(statement: Statement<P, R>, gathering: Gathering<P>, calls: readonly P[]): GatheredQuery {
    let gathered = gatheredStatements.get(statement as Statement<never, unknown>);
    if (gathered === undefined) {
      gathered = gatherStatement(compiler, statement, gathering);
      gatheredStatements.set(statement as Statement<never, unknown>, gathered);
    }
    const { name, sql, tellsCalls } = gathered;
    return { query: this.#own(name, sql, storable(gathered.bind(calls))), tellsCalls };
  }

  /** Several statements as one. `mark` is the transaction's mark, if the statement writes it too. */
  together(parts: readonly Part[], mark: CommitMark | null): QueryConfig {
    const names = parts.map(({ name }) => name);
    const key = (mark === null ? names : [...names, 'mark']).join('+');
    let query = togetherQueries.get(key);
    if (query === undefined) {
      const name = `${togetherQueries.size} ${key}`.slice(0, MAX_NAME);
      query = { name, text: togetherText(parts, mark === null ? null : MARK) };
      togetherQueries.set(key, query);
    }
    const values = parts.flatMap((part) => part.values);
    if (mark !== null) values.push(mark.process, mark.connection, mark.serial, Date.now());
    return this.#own(query.name, query.text, values);
  }

  text<P, R>(statement: Statement<P, R>): string {
    return compiledStatements.get(compiler, statement).sql;
  }

  bound<P, R>(statement: Statement<P, R>, params: P): QueryConfig {
    const compiled = compiledStatements.get(compiler, statement);
    return this.#own(compiled.name, compiled.sql, storable(compiled.bind(params)));
  }

  built<R>(build: (db: Kysely<Schema>) => QueryOf<R>): QueryConfig {
    const { sql, parameters } = build(compiler).compile();
    return { text: sql, values: storable([...parameters]) };
  }
}

/**
 * Replaces U+0000, which PostgreSQL's text cannot store. Texts of users are stored as JSON text, which never contains
 * it. Only ids that a caller looks up and ids of a model can contain it. It becomes U+0001, which no caller's id may
 * contain, so a lookup never finds a wrong row.
 */
export function storable<T>(values: T[]): T[] {
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i];
    if (typeof value === 'string' && value.includes('\0')) values[i] = value.replaceAll('\0', '\u0001') as T;
    else if (Array.isArray(value)) storable(value);
  }
  return values;
}
