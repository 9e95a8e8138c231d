import { readFileSync } from 'node:fs';
import { type ListedWord, listedWords } from './plain-words.ts';
import { countWords, type Passage, type ProseKind, proseKinds, splitPassages } from './prose.ts';
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

/** How often 10 000 words may have "of". Lower a figure when the texts have improved. */
const MAX_OF: Partial<ProseCounts> = { comments: 332, docs: 295, strings: 366, testNames: 325 };

/** Fails if a kind of text has more "of" than its figure. "The run's end" is shorter than "the end of the run". */
export function checkGenitives(sources: Sources): string[] {
  const passages = splitPassages(sources);
  return proseKinds.flatMap((kind) => {
    const texts = passages.filter((passage) => passage.kind === kind).map(({ text }) => text);
    const words = texts.reduce((sum, text) => sum + countWords(text), 0);
    const found = texts.reduce((sum, text) => sum + (text.match(/\bof\b/gi)?.length ?? 0), 0);
    const rate = Math.round((found * 10_000) / Math.max(1, words));
    const most = MAX_OF[kind] ?? Number.POSITIVE_INFINITY;
    return rate <= most ? [] : [`${kind}: ${rate} "of" per 10 000 words, at most ${most} are allowed`];
  });
}

export function describeFinding({ passage, listed }: Finding): string {
  return `${passage.path}:${passage.line} "${listed.word}" (write: ${listed.instead}): ${passage.text}`;
}
