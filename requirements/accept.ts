import { createHash } from 'node:crypto';
import type { SourceCitation } from './find-citations.ts';
import type { Requirement } from './requirement.ts';

/** The digest of the sentence of each id, as a maintainer last accepted it. */
export type AcceptedSentences = Readonly<Record<string, string>>;

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** Sorted by id, so that two branches that add ids change different lines. */
export const acceptSentences = (requirements: readonly Requirement[]): AcceptedSentences =>
  Object.fromEntries(
    requirements.map(({ id, text }) => [id, digest(text)] as const).sort(([a], [b]) => (a < b ? -1 : 1)),
  );

/**
 * Compares the pages with the accepted sentences and with the ids that tests name. If a sentence changed, the tests that
 * cite it may show something that is no longer required.
 */
export function findChanges(
  requirements: readonly Requirement[],
  accepted: AcceptedSentences,
  citations: readonly SourceCitation[],
): string[] {
  const problems: string[] = [];
  const citing = (id: string) =>
    citations
      .filter((citation) => citation.id === id)
      .map(({ file, line, test }) => `\n  ${file}:${line} "${test}"`)
      .join('');
  for (const { id, text, page, line } of requirements) {
    const before = Object.hasOwn(accepted, id) ? accepted[id] : undefined;
    if (before === undefined) problems.push(`${page}:${line}: ${id} is new: accept it, then cite it in a test`);
    else if (before !== digest(text))
      problems.push(`${page}:${line}: the sentence of ${id} changed: check the tests that cite it${citing(id)}`);
  }
  const known = new Set(requirements.map(({ id }) => id));
  for (const id of Object.keys(accepted))
    if (!known.has(id)) problems.push(`${id} is on no page any more${citing(id)}`);
  for (const { id, file, line, test } of citations)
    if (!known.has(id) && !Object.hasOwn(accepted, id))
      problems.push(`${file}:${line}: "${test}" cites ${id}, which is on no page`);
  return problems;
}
