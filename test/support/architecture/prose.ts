import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Span } from './code-scanner.ts';
import { isTest, matchesAny, readSources, type Sources, scannedCode } from './sources.ts';

/** `strings` are sentences for callers, operators and models. */
export const proseKinds = ['comments', 'docs', 'strings', 'testNames', 'typeNames'] as const;
export type ProseKind = (typeof proseKinds)[number];

export interface Passage {
  readonly kind: ProseKind;
  readonly path: string;
  readonly line: number;
  /** Without code, white space folded. */
  readonly text: string;
}

/** Generated files, and the rules themselves. */
const excluded = [
  '**.gen.ts',
  'docs/style.md',
  'CHANGELOG.md',
  'test/architecture.test.ts',
  'test/support/architecture/plain-words.ts',
];

/** Sources whose strings no user reads. */
const internal = [
  'test',
  'proofs',
  'bench',
  'scripts',
  'requirements',
  'packages/test-kit',
  'packages/server/src/testing',
  'packages/guarded-fetch/src/testing',
  'packages/models/src/testing',
  'packages/sandbox/src/testing',
];

/** The sources and the pages that people read. */
export function readProse(root: string): Sources {
  const pages = new Map<string, string>();
  for (const folder of ['', 'docs', 'docs/contract', 'docs/decisions', 'requirements']) {
    if (!existsSync(join(root, folder))) continue;
    for (const name of readdirSync(join(root, folder))) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (/\.md$|^docs\/alerts\.yaml$|^compose\.yaml$|^Dockerfile$/.test(path))
        pages.set(path, readFileSync(join(root, path), 'utf8'));
    }
  }
  return new Map([...readSources(root), ...pages]);
}

export function splitPassages(sources: Sources): Passage[] {
  const passages: Passage[] = [];
  for (const [path, text] of sources) {
    if (matchesAny(path, excluded)) continue;
    if (path.endsWith('.md')) passages.push(...readPage(path, text));
    else if (path.startsWith('docs/')) passages.push(...readAlerts(path, text));
    else if (/^compose\.yaml$|^Dockerfile$/.test(path)) passages.push(...readHashComments(path, text));
    else passages.push(...readSource(path, text));
  }
  return passages;
}

function readPage(path: string, text: string): Passage[] {
  const withoutCode = text.replace(/^( *)(```|~~~)[\s\S]*?^\1\2/gm, (block) => block.replace(/[^\n]/g, ''));
  const passages: Passage[] = [];
  let line = 1;
  for (const paragraph of withoutCode.split(/(?<=\n)(?=\s*\n)/)) {
    const leading = /^\s*/.exec(paragraph)?.[0].split('\n').length ?? 1;
    if (/\S/.test(paragraph)) passages.push({ kind: 'docs', path, line: line + leading - 1, text: plain(paragraph) });
    line += paragraph.split('\n').length - 1;
  }
  return passages;
}

function readAlerts(path: string, text: string): Passage[] {
  return [...text.matchAll(/^ +(?:summary|action|description): ([\s\S]*?)(?=^ +[a-z]+:|^ +- |$(?![\s\S]))/gm)].map(
    (match) => ({ kind: 'strings', path, line: lineAt(text, match.index), text: plain(match[1] ?? '') }),
  );
}

/** Comments of files in which `#` begins one. Comments on consecutive lines are one text. */
function readHashComments(path: string, text: string): Passage[] {
  return [...text.matchAll(/(?:^ *# .*\n)+/gm)].map((match) => ({
    kind: 'comments',
    path,
    line: lineAt(text, match.index),
    text: plain(match[0].replace(/^ *# /gm, '')),
  }));
}

function readSource(path: string, text: string): Passage[] {
  const { mask, comments, strings } = scannedCode(path, text);
  const passages: Passage[] = [];
  const add = (kind: ProseKind, { from, to }: Span, clean = (raw: string) => raw) => {
    const words = plain(clean(text.slice(from, to)));
    if (words !== '') passages.push({ kind, path, line: lineAt(text, from), text: words });
  };
  for (const span of joinLines(text, comments)) add('comments', span, commentText);
  const isInternal = isTest(path) || matchesAny(path, internal);
  for (const span of strings) {
    // Only the end is searched: from its start a file takes a second of CPU in all.
    const before = mask.slice(Math.max(0, span.from - 200), span.from - 1);
    if (/(?<![\w$.])(?:test|it|describe|suite)(?:\.\w+)?\($/.test(before.trimEnd())) {
      add('testNames', span);
    } else if (!isInternal && isSentence(text.slice(span.from, span.to))) {
      add('strings', span);
    }
  }
  for (const match of mask.matchAll(
    /(?<![\w$.])(?:interface|type|class)\s+([A-Z][\w$]*)(?=\s*(?:[<={]|extends|implements))/g,
  )) {
    const from = match.index + match[0].length - (match[1] ?? '').length;
    add('typeNames', { from, to: from + (match[1] ?? '').length });
  }
  return passages;
}

/** Joins `//` comments on consecutive lines: they are one text. */
function joinLines(text: string, comments: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of comments) {
    const last = joined.at(-1);
    const isNext =
      last !== undefined &&
      text.startsWith('//', last.from) &&
      text.startsWith('//', span.from) &&
      /^\n[ \t]*$/.test(text.slice(last.to, span.from));
    if (isNext) joined[joined.length - 1] = { from: last.from, to: span.to };
    else joined.push(span);
  }
  return joined;
}

function commentText(raw: string): string {
  const text = raw.replace(/^\s*(?:\/\*\*?|\/\/+|\*(?!\/))|\*\/$/gm, '');
  return /^\s*(?:biome-ignore|@ts-|#!)/.test(text) ? '' : text;
}

const sql =
  /\bselect\b[\s\S]*\bfrom\b|^\s*(?:insert into|update \w+ set|delete from|pragma|listen|notify|(?:create|alter|drop) (?:unique )?(?:table|index|trigger|schema|database|role))\b/i;

function isSentence(text: string): boolean {
  return /[a-z]{2,}[ ,:;]+[a-z]+ [a-z]+/i.test(text) && !sql.test(text);
}

function plain(text: string): string {
  return text
    .replace(/`[^`]*`/g, '`…`')
    .replace(/https?:\/\/\S+|\]\([^)]*\)/g, ' ')
    .replace(/\\n/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

export function countWords(text: string): number {
  return text.match(/[A-Za-z][A-Za-z'’-]*/g)?.length ?? 0;
}
