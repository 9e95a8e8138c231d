import { readdirSync } from 'node:fs';
import type { NodeGroup } from '@runwire/server/testing';

/** Everything that is stored of runs. */
const TABLES = ['runs', 'steps', 'event_chunks', 'messages', 'chats', 'usage_days', 'blobs', 'attachments'];

/** Every row and every file, as lines that can be compared. */
export async function dumpOf(group: NodeGroup): Promise<string[]> {
  const lines: string[] = [];
  for (const table of TABLES) {
    const rows = await group.query(`select row_to_json(t)::text as line from ${table} t order by 1`);
    for (const { line } of rows) lines.push(`${table} ${line}`);
  }
  const files = readdirSync(group.dataDir, { recursive: true }).map(String).sort();
  return [...lines, ...files.map((file) => `file ${file}`)];
}

/** Rows and files that are not in both. */
export function differences(before: readonly string[], after: readonly string[]): string[] {
  const [old, now] = [new Set(before), new Set(after)];
  return [...after.filter((line) => !old.has(line)), ...before.filter((line) => !now.has(line))];
}
