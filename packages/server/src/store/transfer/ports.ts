import type { StoreKind } from '../store.ts';

/** The values that both databases have: text, and integers that a number holds exactly. */
export type Value = string | number | null;
export type Row = readonly Value[];

/** A consistent view of all rows at one moment. */
export interface Snapshot {
  readonly kind: StoreKind;
  /** The names of the migrations that were applied, in order. */
  migrations(): Promise<string[]>;
  /** Returns no columns if the table does not exist. */
  columns(table: string): Promise<string[]>;
  /** Reads the rows in batches, in any order, so that memory use does not grow with the table. */
  rows(table: string, columns: readonly string[]): AsyncIterable<readonly Row[]>;
}

/**
 * Rows as JSON arrays, with a line break between two of them. There is at least one. The reader uses the bytes before it
 * asks for the next lines: then they are freed.
 */
export interface Lines {
  readonly bytes: Uint8Array;
  readonly count: number;
}

/**
 * Frees the memory now. The garbage collector would count it, and mark the whole heap about every 32 MB: 13 to 20 % of the CPU
 * of a backup.
 */
export function freeLines({ bytes }: Lines): void {
  (bytes.buffer as ArrayBuffer).transfer(0);
}

/** A snapshot of which a backup is written. */
export interface BackupSource extends Snapshot {
  /** Reads the rows as the database itself writes them, so that this process makes no value of each column. */
  lines(table: string, columns: readonly string[]): AsyncIterable<Lines>;
}

/** The destination of a copy. Nothing is visible before `commit`, and everything after it. */
export interface Target extends AsyncDisposable {
  /** True if there is no installation yet. */
  isEmpty(): Promise<boolean>;
  /** Applies the migrations up to this one, or all of them if it is null. */
  migrate(upTo: string | null): Promise<void>;
  columns(table: string): Promise<string[]>;
  /** Converts a row to values that this database accepts. */
  storable(row: Row): Row;
  insert(table: string, columns: readonly string[], rows: readonly Row[]): Promise<void>;
  rows(table: string, columns: readonly string[]): AsyncIterable<readonly Row[]>;
  /** Deletes the events of runs whose compacted events were copied too. Call it after all migrations. */
  deleteCompactedEvents(): Promise<void>;
  /** Durable when it resolves. */
  commit(): Promise<void>;
}

/**
 * PostgreSQL keeps a compacted run's events until it drops their partition. A copy has other partitions, and no sweep
 * visits the run again.
 */
export const DELETE_COMPACTED_EVENTS = `delete from event_chunks
  where exists (select 1 from compacted_chunks c where c.run_id = event_chunks.run_id)`;

/**
 * The number of rows that are read and written together. The largest rows, messages of a million characters, take about
 * 64 MB.
 */
export const BATCH_ROWS = 64;
