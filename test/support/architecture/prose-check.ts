import { readFileSync } from 'node:fs';
import { type ListedWord, listedWords } from './plain-words.ts';
import { type Passage, type ProseKind, proseKinds, splitPassages } from './prose.ts';
import type { Sources } from './sources.ts';

export interface Finding {
  readonly passage: Passage;
  readonly listed: ListedWord;
}

export type ProseCounts = Readonly<Record<ProseKind, number>>;

/** How many findings each kind of text may still have. `node -C runwire scripts/prose.ts --update` lowers them. */
export const baselinePath = new URL('prose-baseline.json', import.meta.url);

export function readBaseline(): ProseCounts {
  return JSON.parse(readFileSync(baselinePath, 'utf8')) as ProseCounts;
}

export function findListedWords(passages: readonly Passage[]): Finding[] {
  return passages.flatMap((passage) =>
    listedWords[passage.kind].flatMap((listed) =>
      [...passage.text.matchAll(listed.pattern)].map(() => ({ passage, listed })),
    ),
  );
}

export function countFindings(findings: readonly Finding[]): ProseCounts {
  const counts = Object.fromEntries(proseKinds.map((kind) => [kind, 0])) as Record<ProseKind, number>;
  for (const { passage } of findings) counts[passage.kind] += 1;
  return counts;
}

/** Fails if a kind of text has more listed words than the baseline allows. Fewer are fine: they only may not return. */
export function checkProse(sources: Sources, baseline: ProseCounts): string[] {
  const findings = findListedWords(splitPassages(sources));
  const counts = countFindings(findings);
  return proseKinds
    .filter((kind) => counts[kind] > baseline[kind])
    .map(
      (kind) =>
        `${kind}: ${counts[kind]} words of the list in docs/style.md, at most ${baseline[kind]} are allowed. ` +
        `See them: node -C runwire scripts/prose.ts --list ${kind}`,
    );
}

export function describeFinding({ passage, listed }: Finding): string {
  return `${passage.path}:${passage.line} "${listed.word}" (write: ${listed.instead}): ${passage.text}`;
}
