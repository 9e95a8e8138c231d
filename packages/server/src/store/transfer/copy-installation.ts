import { NODE_ALIVE } from '../schema.ts';
import type { Row, Snapshot, Target } from './ports.ts';
import { TableDigest } from './table-digest.ts';
import { COPIED_TABLES } from './tables.ts';

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
}

/** The copy is not what was copied. */
export class CopyDiffers extends Error {
  override readonly name = 'CopyDiffers';
}

/**
 * Copies all tables and reads each back: the same count and the same checksum, or nothing is committed. The tables are
 * made as the source's version left them, filled, and then brought up to this program's.
 *
 * `aliveBecomes` is what is said of nodes that were alive: none of them is one of the copy's, and a run that one of them
 * had under way is taken over by what stands there, crashed or let go of.
 */
export async function copyInstallation(
  source: Snapshot,
  target: Target,
  aliveBecomes: number,
): Promise<readonly CopiedTable[]> {
  const level = (await source.migrations()).at(-1);
  if (level === undefined) throw new CopyDiffers('What was to be copied has no tables.');
  await target.migrate(level);
  const copied: CopiedTable[] = [];
  for (const table of COPIED_TABLES) {
    const columns = await source.columns(table);
    // Of a version that had no such table yet.
    if (columns.length === 0) continue;
    const there = await target.columns(table);
    if (columns.toSorted().join() !== there.toSorted().join()) {
      throw new CopyDiffers(`The table ${table} has other columns than ${level} gives it; nothing was copied.`);
    }
    const asCopied = table === 'nodes' ? nodesAway(columns, aliveBecomes) : (row: Row) => row;
    const given = new TableDigest();
    for await (const rows of source.rows(table, columns)) {
      const stored = rows.map((row) => target.storable(asCopied(row)));
      given.add(stored);
      await target.insert(table, columns, stored);
    }
    const kept = new TableDigest();
    for await (const rows of target.rows(table, columns)) kept.add(rows);
    if (!kept.equals(given)) {
      throw new CopyDiffers(`The table ${table} reads back otherwise than it was written; nothing was copied.`);
    }
    copied.push({ table, rows: given.rows });
  }
  await target.migrate(null);
  return copied;
}

function nodesAway(columns: readonly string[], aliveBecomes: number): (row: Row) => Row {
  const place = columns.indexOf('dead');
  return (row) => (row[place] === NODE_ALIVE ? row.with(place, aliveBecomes) : row);
}
