import { sql } from 'kysely';

/** The columns of a run and of the rollups that say what models used. */
export const USAGE_COLUMNS = [
  'request_count',
  'input_tokens',
  'cached_tokens',
  'output_tokens',
  'reasoning_tokens',
] as const;

/** Sums of these columns. PostgreSQL returns them as text. */
export type UsedAmounts = { [Column in (typeof USAGE_COLUMNS)[number]]: number | string };

/** The columns that say what was charged. */
export const CHARGE_COLUMNS = ['charged_runs', 'charged_tokens', 'charged_credits'] as const;

export const AMOUNT_COLUMNS = [...USAGE_COLUMNS, ...CHARGE_COLUMNS] as const;

export const listColumns = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)));

/** `sum(column) as column` of each. */
export const sumColumns = (columns: readonly string[]) =>
  sql.join(columns.map((column) => sql`sum(${sql.ref(column)}) as ${sql.ref(column)}`));
