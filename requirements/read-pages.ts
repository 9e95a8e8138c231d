import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ParsedPage, parsePage } from './parse-page.ts';
import type { Requirement } from './requirement.ts';

/** Reads all pages of the contract. An id that two requirements have is a problem of the second one. */
export function readPages(root: string): ParsedPage {
  const requirements: Requirement[] = [];
  const problems: string[] = [];
  const firstSeen = new Map<string, string>();
  const pages = globSync('docs/contract/*.md', { cwd: root }).filter((page) => !page.endsWith('README.md'));
  for (const page of pages.sort()) {
    const parsed = parsePage(page, readFileSync(join(root, page), 'utf8'));
    problems.push(...parsed.problems);
    for (const requirement of parsed.requirements) {
      const { id, line } = requirement;
      const place = firstSeen.get(id);
      if (place !== undefined) problems.push(`${page}:${line}: "${id}" is already at ${place}`);
      else {
        firstSeen.set(id, `${page}:${line}`);
        requirements.push(requirement);
      }
    }
  }
  return { requirements, problems };
}
