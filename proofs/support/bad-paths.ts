import { readFileSync } from 'node:fs';

type Expectation = 'reject' | 'accept' | 'safe' | 'choose' | 'reject-or-accept';

export interface PathItem {
  readonly id: string;
  readonly field: string;
  readonly expect: Expectation;
  readonly reason: string;
  /** Absent in a raw body. */
  readonly value?: unknown;
  /** Of a sandbox file; `<final segment>`: that of its path. */
  readonly name?: string;
  readonly body_hex?: string;
}

export interface PathPair {
  readonly a: string;
  readonly b: string;
  readonly why: string;
}

interface BadPaths {
  readonly items: readonly PathItem[];
  readonly collision_pairs: readonly PathPair[];
}

export const badPaths = JSON.parse(
  readFileSync(new URL('../data/bad-paths.json', import.meta.url), 'utf8'),
) as BadPaths;

/** A field's items; some stand for several fields. */
export const itemsOf = (field: string): PathItem[] =>
  badPaths.items.filter((item) => item.field.split(' | ').includes(field));

/** What the contract says of those that the specification leaves open; null: either answer. */
export function expectedOf({ id, expect }: PathItem): 'reject' | 'accept' | null {
  if (expect === 'reject' || expect === 'accept') return expect;
  // "`folder` absolute".
  if (expect === 'choose' && id === 'path-109') return 'reject';
  return null;
}

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));
