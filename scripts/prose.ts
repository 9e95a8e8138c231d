import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { listedWords } from '../test/support/architecture/plain-words.ts';
import { countWords, type Passage, proseKinds, readProse, splitPassages } from '../test/support/architecture/prose.ts';
import {
  baselinePath,
  countFindings,
  describeFinding,
  findListedWords,
  readBaseline,
} from '../test/support/architecture/prose-check.ts';

/**
 * Counts the words of docs/style.md per 10 000 words.
 *
 *     node -C runwire scripts/prose.ts                    prints the counts
 *     node -C runwire scripts/prose.ts --list [filter …]  prints each finding; a filter is a part of a path or a kind
 *     node -C runwire scripts/prose.ts --sample 50        prints random comments, the same for the same --seed
 *     node -C runwire scripts/prose.ts --update           lowers the counts that the architecture test allows
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean' },
    update: { type: 'boolean' },
    sample: { type: 'string' },
    seed: { type: 'string', default: '13' },
    root: { type: 'string', default: join(import.meta.dirname, '..') },
  },
});

const print = (line: string) => process.stdout.write(`${line}\n`);
const passages = splitPassages(readProse(values.root));
const findings = findListedWords(passages);

if (values.list) {
  for (const finding of findings) {
    const { kind, path } = finding.passage;
    if (positionals.every((filter) => kind === filter || path.includes(filter))) print(describeFinding(finding));
  }
} else if (values.sample !== undefined) {
  const comments = passages.filter(({ kind, text }) => kind === 'comments' && countWords(text) >= 4);
  for (const { path, line, text } of drawSample(comments, Number(values.sample), Number(values.seed))) {
    print(`${path}:${line}\n    ${text}`);
  }
} else if (values.update) {
  const counts = countFindings(findings);
  const before = readBaseline();
  const lowered = Object.fromEntries(proseKinds.map((kind) => [kind, Math.min(counts[kind], before[kind])]));
  writeFileSync(baselinePath, `${JSON.stringify(lowered, null, 2)}\n`);
} else {
  for (const kind of proseKinds) printCounts(kind);
}

function printCounts(kind: (typeof proseKinds)[number]): void {
  const texts = passages.filter((passage) => passage.kind === kind).map(({ text }) => text);
  const words = texts.reduce((sum, text) => sum + countWords(text), 0);
  const rate = (count: number) => ((count * 10_000) / Math.max(1, words)).toFixed(1).padStart(8);
  const countAll = (pattern: RegExp) => texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0);
  print(`\n${kind}: ${words} words${' '.repeat(Math.max(1, 30 - kind.length - `${words}`.length))}count  per 10 000`);
  const row = (name: string, count: number) => print(`  ${name.padEnd(34)}${`${count}`.padStart(6)}${rate(count)}`);
  if (kind !== 'typeNames') {
    row('if', countAll(/\bif\b/gi));
    row('where (any)', countAll(/\bwhere\b/gi));
    row('immediately', countAll(/\bimmediately\b/gi));
  }
  for (const listed of listedWords[kind]) row(listed.word, countAll(listed.pattern));
  row('listed words together', findings.filter(({ passage }) => passage.kind === kind).length);
}

/** mulberry32, so that the same seed draws from the same positions on every machine. */
function drawSample(from: readonly Passage[], count: number, seed: number): Passage[] {
  const rest = [...from];
  const drawn: Passage[] = [];
  let state = seed;
  while (drawn.length < count && rest.length > 0) {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    const index = ((bits ^ (bits >>> 14)) >>> 0) % rest.length;
    drawn.push(...rest.splice(index, 1));
  }
  return drawn.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line));
}
