import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { acceptSentences, findChanges } from './accept.ts';
import { findCitations } from './find-citations.ts';
import type { ParsedPage } from './parse-page.ts';
import { readPages } from './read-pages.ts';

const acceptedFile = (root: string): string => join(root, 'requirements/accepted.json');

/** A repository's requirements. A sentence that changed since it was accepted is a problem. */
export function checkPages(root: string): ParsedPage {
  const { requirements, problems } = readPages(root);
  if (problems.length > 0) return { requirements, problems };
  const accepted = JSON.parse(readFileSync(acceptedFile(root), 'utf8')) as Record<string, string>;
  return { requirements, problems: findChanges(requirements, accepted, findCitations(root)) };
}

/** Accepts the pages as they are. Returns their form's problems, with which nothing is accepted. */
export function acceptPages(root: string): readonly string[] {
  const { requirements, problems } = readPages(root);
  if (problems.length === 0)
    writeFileSync(acceptedFile(root), `${JSON.stringify(acceptSentences(requirements), null, 2)}\n`);
  return problems;
}
