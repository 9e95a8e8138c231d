import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** A chunk in the manifest of Vite. The other chunks are named by their keys. */
export interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
  readonly css?: readonly string[];
}

export type Manifest = Readonly<Record<string, Chunk>>;

const INDEX = 'index.html';
const FIRST_LOAD_BYTES = 200_000;
const PAGE_BYTES = 60_000;

/** What a browser loads. */
export interface Loads {
  /** The first load's files. */
  readonly first: ReadonlySet<string>;
  /** Chunk that is loaded when it is needed → its files, without those of the first load. */
  readonly pages: ReadonlyMap<string, ReadonlySet<string>>;
}

export function countLoads(manifest: Manifest): Loads {
  const first = chunksFrom(INDEX, (key) => manifest[key]?.imports ?? []);
  const pages = new Map<string, ReadonlySet<string>>();
  for (const key of [...first].flatMap((known) => manifest[known]?.dynamicImports ?? [])) {
    if (first.has(key)) continue;
    // What a page loads later counts too: a person who opens it waits for all of it.
    const needed = chunksFrom(key, (known) =>
      [...(manifest[known]?.imports ?? []), ...(manifest[known]?.dynamicImports ?? [])].filter(
        (one) => !first.has(one),
      ),
    );
    pages.set(key, listFiles(manifest, needed).difference(listFiles(manifest, first)));
  }
  return { first: new Set([INDEX, ...listFiles(manifest, first)]), pages };
}

/** Returns the start and everything that it needs, directly or not. */
function chunksFrom(start: string, needs: (key: string) => readonly string[]): Set<string> {
  const found = new Set([start]);
  // A set also visits what is added to it.
  for (const key of found) for (const needed of needs(key)) found.add(needed);
  return found;
}

function listFiles(manifest: Manifest, keys: Iterable<string>): Set<string> {
  return new Set([...keys].flatMap((key) => [manifest[key]?.file ?? key, ...(manifest[key]?.css ?? [])]));
}

/** Returns a sentence for each load that is too large, and the sizes for people. */
export function checkBudgets(folder: string, { first, pages }: Loads): { problems: string[]; summary: string } {
  const measureSize = (files: ReadonlySet<string>) =>
    [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(folder, file))).length, 0);
  const loads = [
    { name: 'the first load', bytes: measureSize(first), most: FIRST_LOAD_BYTES },
    ...[...pages].map(([key, files]) => ({ name: key, bytes: measureSize(files), most: PAGE_BYTES })),
  ];
  const kb = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;
  const [firstLoad, ...others] = loads;
  const largest = others.toSorted((a, b) => b.bytes - a.bytes)[0];
  return {
    problems: loads
      .filter(({ bytes, most }) => bytes > most)
      .map(
        ({ name, bytes, most }) =>
          `${name} has ${kb(bytes)} gzipped, more than ${kb(most)}; load less, or load it later.`,
      ),
    summary: [
      `console: first load ${kb(firstLoad?.bytes ?? 0)} gzipped`,
      ...(largest === undefined ? [] : [`largest page ${kb(largest.bytes)} (${largest.name})`]),
    ].join(', '),
  };
}
