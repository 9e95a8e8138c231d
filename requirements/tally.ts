import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Citation } from './cite.ts';
import type { Requirement } from './requirement.ts';
import { needsBothStores } from './stored-state.ts';

export interface Tally {
  /** `ids N cited M`. */
  readonly line: string;
  readonly problems: readonly string[];
}

export function tally(requirements: readonly Requirement[], citations: readonly Citation[]): Tally {
  const known = new Set(requirements.map(({ id }) => id));
  const problems: string[] = [];
  const cited = new Set<string>();
  const onStores = new Set<string>();
  for (const { id, test, file } of citations) {
    if (!known.has(id)) problems.push(`${file}: "${test}" cites ${id}, which is on no page`);
    else {
      cited.add(id);
      const [, store] = /^(sqlite|postgres) > /.exec(test) ?? [];
      if (store !== undefined) onStores.add(`${id} ${store}`);
    }
  }
  if (citations.length === 0) {
    problems.push('No citations were recorded: run npm test first.');
  } else {
    for (const { id, text, page, line } of requirements) {
      const sentence = `${id}: ${text}`;
      if (!cited.has(id)) problems.push(`${page}:${line}: no passing test cites ${sentence}`);
      else if (needsBothStores(id)) {
        for (const store of ['sqlite', 'postgres']) {
          if (!onStores.has(`${id} ${store}`)) problems.push(`${page}:${line}: not shown on ${store}: ${sentence}`);
        }
      }
    }
  }
  return { line: `ids ${requirements.length} cited ${cited.size}`, problems };
}

export function readCitations(folder: string): Citation[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Citation);
}
