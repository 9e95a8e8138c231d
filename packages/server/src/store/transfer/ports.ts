import type { StoreKind } from '../store.ts';

/** What both databases have: text, and integers that a number holds exactly. */
export type Value = string | number | null;
export type Row = readonly Value[];

/** All rows of one moment, whatever is written meanwhile. */
export interface Snapshot {
  readonly kind: StoreKind;
  /** The names of the migrations that made its tables, in order. */
  migrations(): Promise<string[]>;
  /** None where there is no such table. */
  columns(table: string): Promise<string[]>;
  /** A few at a time, in no order: what is held in memory does not grow with the table. */
  rows(table: string, columns: readonly string[]): AsyncIterable<readonly Row[]>;
}

/** A place for an installation: nothing of it is there before `commit`, and all of it after. */
export interface Target extends AsyncDisposable {
  /** Whether there is nothing of an installation yet. */
  isEmpty(): Promise<boolean>;
  /** Makes the tables as this migration left them; null: as this program uses them. */
  migrate(upTo: string | null): Promise<void>;
  columns(table: string): Promise<string[]>;
  /** The values as this database takes them. */
  storable(row: Row): Row;
  insert(table: string, columns: readonly string[], rows: readonly Row[]): Promise<void>;
  rows(table: string, columns: readonly string[]): AsyncIterable<readonly Row[]>;
  /** Durable when it resolves. */
  commit(): Promise<void>;
}

/** Rows that are read, sent and written together: of the largest, messages of a million characters, some 64 MB. */
export const BATCH_ROWS = 64;
