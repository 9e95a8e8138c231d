import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A place in the source of a test that names an id. */
export interface SourceCitation {
  readonly id: string;
  readonly file: string;
  readonly line: number;
  /** The name of the test around it. */
  readonly test: string;
}

const TEST_FILES = ['test/**/*.test.ts', 'packages/*/src/**/*.test.ts', 'bench/**/*.test.ts', 'proofs/**/*.test.ts'];

/** Finds citations without running the tests. `cites` gets its ids as literals, so the source shows all of them. */
export const findCitations = (root: string): SourceCitation[] =>
  globSync(TEST_FILES, { cwd: root })
    .sort()
    .flatMap((file) => citationsIn(file, readFileSync(join(root, file), 'utf8')));

export function citationsIn(file: string, source: string): SourceCitation[] {
  if (!source.includes('cites(')) return [];
  const names = /(?<![\w$.])(?:test|it)(?:\.\w+)?\(\s*(['"`])([^\n]*?)\1/g;
  const tests = [...source.matchAll(names)].map((match) => ({ index: match.index, name: match[2] ?? '' }));
  return [...source.matchAll(/'((?:spec|contract|agents|clients|compatible)-[0-9.]+(?:-[a-z0-9]+)+)'/g)].map(
    (match) => ({
      id: match[1] ?? '',
      file,
      line: source.slice(0, match.index).split('\n').length,
      test: tests.findLast(({ index }) => index < match.index)?.name ?? '',
    }),
  );
}
