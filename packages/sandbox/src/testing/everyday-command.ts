import type { SandboxCase } from './sandbox-conformance.ts';

/** What models do every day. docs/sandbox-commands.md shows the list as a table, and a test compares both. */
export interface EverydayCommand extends Pick<SandboxCase, 'command' | 'files' | 'output' | 'after'> {
  readonly task: string;
  /** The programs that it needs, as the page shows them. Builtins of bash are not among them. */
  readonly programs: readonly string[];
  /** Why just-bash cannot do it: it then fails with an exit code, and is never silently wrong. Absent if it can. */
  readonly missing?: string;
  /** A file in the folder afterwards that must be a PNG picture. */
  readonly picture?: string;
}

export const NO_PROGRAM = 'no such program';
export const WORDS = { 'a.txt': 'pear\napple\nfig\napple\n' };
export const PEOPLE = { 'people.csv': 'id,name,n\n1,Ann,5\n2,Bob,7\n' };
export const TABLES = { ...PEOPLE, 'cities.csv': 'id,city\n1,Oslo\n2,Rome\n' };
export const TREE = { 'd/x.txt': 'X\n', 'd/e/y.txt': 'Y\n' };
export const RECORDS = { 'o.json': '[{"n":1,"k":"a"},{"n":2,"k":"b"},{"n":4,"k":"a"}]\n' };
