import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { NodeGroup } from '@runwire/test-kit';

/** Everything that is stored of runs. */
const TABLES = ['runs', 'steps', 'event_chunks', 'messages', 'chats', 'usage_days', 'blobs', 'attachments'];

/** Every row and every file, as lines that can be compared. */
export async function dumpOf(group: NodeGroup): Promise<string[]> {
  const lines: string[] = [];
  for (const table of TABLES) {
    const rows = await group.query(`select row_to_json(t)::text as line from ${table} t order by 1`);
    for (const { line } of rows) lines.push(`${table} ${line}`);
  }
  return [...lines, ...filesIn(group.dataDir)];
}

/** Each with its name and what its bytes come to. */
export function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name)).sort();
  return paths.map((path) => `file ${relative(folder, path)} ${hash('sha256', readFileSync(path))}`);
}

/** How many of the lines are files of images. */
export const imagesIn = (dump: readonly string[]): number =>
  dump.filter((line) => /^file blobs\/[0-9a-f]{2}\//.test(line)).length;

/** Rows and files that are not in both. */
export function differences(before: readonly string[], after: readonly string[]): string[] {
  const [old, now] = [new Set(before), new Set(after)];
  return [...after.filter((line) => !old.has(line)), ...before.filter((line) => !now.has(line))];
}
