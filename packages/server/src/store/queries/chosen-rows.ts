import { sql } from 'kysely';
import type { JsonRows } from './file-batches.ts';

/** A column's text as an expression, which no index has. */
export const notIndexed = (column: string) => sql<string>`${sql.ref(column)} || ''`;

/** The integration in the index of reruns: as an expression, so that only lists of reruns read this index, and no other one. */
export const integrationOfReruns = sql<string>`coalesce(integration_id, '')`;

/** This value of each of the rows. */
export const selectValues = <Id extends string>(rows: JsonRows, name: string) =>
  sql<Id>`(select j.value ->> ${sql.lit(name)} from json_each(${rows}) as j)`;
