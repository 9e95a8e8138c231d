import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Citation } from './cite.ts';
import type { Requirement } from './requirement.ts';
import { needsBothStores } from './stored-state.ts';

export interface Tally {
  /** `ids N cited M later K`; N = M + K exactly when there is no problem. */
  readonly line: string;
  readonly problems: readonly string[];
}

export function tally(requirements: readonly Requirement[], citations: readonly Citation[]): Tally {
  const known = new Map<string, Requirement>();
  const problems: string[] = [];
  for (const requirement of requirements) {
    if (known.has(requirement.id)) problems.push(`Two requirements have the id ${requirement.id}.`);
    known.set(requirement.id, requirement);
  }
  const cited = new Set<string>();
  const onStores = new Set<string>();
  for (const { id, test, file } of citations) {
    const requirement = known.get(id);
    if (requirement === undefined) problems.push(`${file}: "${test}" cites ${id}, which no requirement has.`);
    else if (requirement.later !== undefined) problems.push(`${file}: "${test}" cites ${id}, marked as later.`);
    else {
      cited.add(id);
      const [, store] = /^(sqlite|postgres) > /.exec(test) ?? [];
      if (store !== undefined) onStores.add(`${id} ${store}`);
    }
  }
  const later = requirements.filter((requirement) => requirement.later !== undefined).length;
  if (citations.length === 0) {
    problems.push('No citations were recorded: run npm test first.');
  } else {
    for (const { id, later: issue, quote } of requirements) {
      if (issue !== undefined) continue;
      if (!cited.has(id)) problems.push(`uncited ${id}: ${quote}`);
      else if (needsBothStores(id)) {
        for (const store of ['sqlite', 'postgres']) {
          if (!onStores.has(`${id} ${store}`)) problems.push(`not shown on ${store}: ${id}: ${quote}`);
        }
      }
    }
  }
  return { line: `ids ${requirements.length} cited ${cited.size} later ${later}`, problems };
}

export function readCitations(folder: string): Citation[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Citation);
}
