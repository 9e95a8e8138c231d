import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

const PAGE = join(import.meta.dirname, '../docs/performance.md');

/** Replaces a section of docs/performance.md, which is between two comments with its name. */
export function writeDocsSection(name: string, command: string, text: string): void {
  const page = readFileSync(PAGE, 'utf8');
  const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`docs/performance.md has no section ${name}.`);
  const date = new Date().toISOString().slice(0, 10);
  const source = `${date}, \`${command}\`, ${availableParallelism()} cores, Node ${process.versions.node}.`;
  writeFileSync(PAGE, `${page.slice(0, from)}${begin}\n\n${source}\n\n${text}\n\n${page.slice(to)}`);
}
