import { NODE_ALIVE } from '../schema.ts';
import type { Row, Snapshot, Target } from './ports.ts';
import { TableDigest } from './table-digest.ts';
import { COPIED_TABLES } from './tables.ts';

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
}

/** The copy differs from the source. */
export class CopyDiffers extends Error {
  override readonly name = 'CopyDiffers';
}

/**
 * Copies all tables and reads each one back. If count or checksum differ, nothing is committed. The tables are created
 * by the migrations of the source's version, filled, and then migrated to this version.
 *
 * `aliveBecomes` is the new state of nodes that were alive. No such node exists in the copy. This state decides whether
 * their unfinished runs are taken over as crashed or as released. With `restoredAt`, schedules continue after this time.
 */
export async function copyInstallation(
  source: Snapshot,
  target: Target,
  aliveBecomes: number,
  restoredAt: number | null = null,
): Promise<readonly CopiedTable[]> {
  const level = (await source.migrations()).at(-1);
  if (level === undefined) throw new CopyDiffers('The source has no tables.');
  await target.migrate(level);
  const copied: CopiedTable[] = [];
  for (const table of COPIED_TABLES) {
    const columns = await source.columns(table);
    // The source is of a version without this table.
    if (columns.length === 0) continue;
    const there = await target.columns(table);
    if (columns.toSorted().join() !== there.toSorted().join()) {
      throw new CopyDiffers(
        `The table ${table} has other columns than migration ${level} defines; nothing was copied.`,
      );
    }
    const asCopied =
      table === 'nodes'
        ? nodesAway(columns, aliveBecomes)
        : table === 'schedules' && restoredAt !== null
          ? continuedSchedules(columns, restoredAt)
          : (row: Row) => row;
    const given = new TableDigest();
    for await (const rows of source.rows(table, columns)) {
      const stored = rows.map((row) => target.storable(asCopied(row)));
      given.add(stored);
      await target.insert(table, columns, stored);
    }
    const kept = new TableDigest();
    for await (const rows of target.rows(table, columns)) kept.add(rows);
    if (!kept.equals(given)) {
      throw new CopyDiffers(`The table ${table} reads back differently than it was written; nothing was copied.`);
    }
    copied.push({ table, rows: given.rows });
  }
  await target.migrate(null);
  await target.deleteCompactedEvents();
  return copied;
}

function nodesAway(columns: readonly string[], aliveBecomes: number): (row: Row) => Row {
  const index = columns.indexOf('dead');
  return (row) => (row[index] === NODE_ALIVE ? row.with(index, aliveBecomes) : row);
}

/**
 * Ticks that ran after the backup are not run again, and ticks between the backup and the restore are not made up for. A node
 * finds the next tick when it looks at the schedule.
 */
function continuedSchedules(columns: readonly string[], restoredAt: number): (row: Row) => Row {
  const index = (column: string) => columns.indexOf(column);
  return (row) => {
    const free = row.with(index('claimed_by'), null).with(index('last_tick_at'), restoredAt);
    if (row[index('due_at')] === null) return free;
    return free
      .with(index('next_tick_at'), null)
      .with(index('due_at'), restoredAt)
      .with(index('tries'), 0)
      .with(index('retry_code'), null);
  };
}
