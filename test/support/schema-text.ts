import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { temporaryFolder } from '@runwire/server/testing';
import { embeddedStore, freshDatabase, postgresStore } from '@runwire/test-kit/test-store.ts';
import pg from 'pg';

/** docs/schema.sql has one section per store, so that a machine without PostgreSQL can check the other one. */
export const schemaFile = new URL('../../docs/schema.sql', import.meta.url);
export const schemaSections = { sqlite: '-- SQLite', postgres: '-- PostgreSQL' } as const;
export type SchemaSection = keyof typeof schemaSections;

export function readSection(text: string, section: SchemaSection): string {
  const start = text.indexOf(`${schemaSections[section]}\n`);
  const end = text.indexOf('\n-- ', start + 1);
  return start < 0 ? '' : text.slice(start, end < 0 ? undefined : end);
}

/** Applies all migrations to an empty database and returns its tables and indexes. */
export function toSchema(section: SchemaSection): Promise<string> {
  return section === 'sqlite' ? sqliteSchema() : postgresSchema();
}

async function sqliteSchema(): Promise<string> {
  const folder = temporaryFolder();
  await (await embeddedStore(folder))[Symbol.asyncDispose]();
  const database = new DatabaseSync(join(folder, 'test.db'));
  const rows = database
    .prepare(
      `select sql from sqlite_master where sql is not null and tbl_name not like 'kysely_%' and tbl_name not like 'sqlite_%'
       order by tbl_name, type desc, name`,
    )
    .all();
  database.close();
  rmSync(folder, { recursive: true });
  return sectionText(
    'sqlite',
    rows.map(({ sql }) => String(sql)),
  );
}

const COLUMNS = `select format('%I %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
    case when c.collname = 'C' then ' collate "C"' else '' end, case when a.attnotnull then ' not null' else '' end ||
    coalesce(case when a.attgenerated = 's' then ' generated always as ' || pg_get_expr(d.adbin, d.adrelid) || ' stored'
      else ' default ' || pg_get_expr(d.adbin, d.adrelid) end, ''))
  from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    left join pg_collation c on c.oid = a.attcollation
  where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped order by a.attnum`;
const CONSTRAINTS = `select format('constraint %I %s', k.conname, pg_get_constraintdef(k.oid)) from pg_constraint k
  where k.conrelid = t.oid and k.contype in ('p', 'u', 'f', 'c') order by k.contype <> 'p', k.conname`;
const INDEXES = `select replace(pg_get_indexdef(i.indexrelid), 'public.', '') from pg_index i
  join pg_class x on x.oid = i.indexrelid where i.indrelid = t.oid
    and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid) order by x.relname`;
const TABLES = `select t.relname as name, pg_get_partkeydef(t.oid) as key, array(${COLUMNS}) || array(${CONSTRAINTS}) as parts, array(${INDEXES}) as indexes
  from pg_class t where t.relnamespace = 'public'::regnamespace and t.relkind in ('r', 'p') and not t.relispartition
    and t.relname not like 'kysely_%'
  order by t.relname collate "C"`;

async function postgresSchema(): Promise<string> {
  await using database = await freshDatabase();
  await (await postgresStore(database.url))[Symbol.asyncDispose]();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ name: string; key: string | null; parts: string[]; indexes: string[] }>(TABLES);
  await client.end();
  return sectionText(
    'postgres',
    // The partitions are left out: their names and bounds depend on the day.
    rows.flatMap(({ name, key, parts, indexes }) => [
      `create table "${name}" (${parts.join(', ')})${key === null ? '' : ` partition by ${key}`}`,
      ...indexes,
    ]),
  );
}

function sectionText(section: SchemaSection, statements: readonly string[]): string {
  return `${schemaSections[section]}\n\n${statements.map((statement) => `${lineByLine(statement)};\n`).join('')}`;
}

/** Writes each column and constraint of a table on its own line. */
function lineByLine(statement: string): string {
  const key = statement.indexOf(' partition by ');
  if (key >= 0) return lineByLine(statement.slice(0, key)) + statement.slice(key);
  if (!/^create table/i.test(statement)) return statement;
  let depth = 0;
  return `\n${statement.replace(/[(),] ?/g, (sign) => {
    if (sign.startsWith('(')) {
      depth += 1;
      return depth === 1 ? '(\n  ' : sign;
    }
    if (sign.startsWith(')')) {
      depth -= 1;
      return depth === 0 ? `\n)${sign.slice(1)}` : sign;
    }
    return depth === 1 ? ',\n  ' : sign;
  })}`;
}
