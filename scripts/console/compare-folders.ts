import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Returns the names of the files that are not the same, byte for byte, in both folders. */
export function differentFiles(one: string, other: string): string[] {
  const [inOne, inOther] = [filesBelow(one), filesBelow(other)];
  const differs = (name: string) => !readFileSync(join(one, name)).equals(readFileSync(join(other, name)));
  return [...inOne.union(inOther)].filter((name) => !inOne.has(name) || !inOther.has(name) || differs(name)).sort();
}

function filesBelow(folder: string): Set<string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Set(entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name)))); // biome-ignore format: short
}
