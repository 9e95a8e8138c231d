import { join } from 'node:path';
import { agentsRequirements } from './agents.ts';
import { contractRequirements } from './contract.ts';
import type { ParsedPage } from './parse-page.ts';
import { readPages } from './read-pages.ts';
import { specRequirements } from './spec.ts';

/** The pages, and the requirements that are not on a page yet. */
export function readRequirements(root: string): ParsedPage {
  const { requirements, problems } = readPages(root);
  if (root !== join(import.meta.dirname, '..')) return { requirements, problems };
  const onPages = new Set(requirements.map(({ id }) => id));
  const rest = [...specRequirements, ...contractRequirements, ...agentsRequirements]
    .filter(({ id }) => !onPages.has(id))
    .map(({ id, quote }) => ({ id, text: quote, page: 'requirements', line: 1 }));
  return { requirements: [...requirements, ...rest], problems };
}
