import { hash } from 'node:crypto';
import type { IntegrationId } from '../ids.ts';
import { Refusal } from '../refusal.ts';

/** Only a text's beginning is searched. Characters are code points. */
export const TEXT_CHARACTERS = 20_000;
const WORD_CHARACTERS = 64;
/** A word of the index begins with its integration's scope. */
export const SCOPE_CHARACTERS = 5;

/** Each Chinese, Japanese or Korean character is a word. */
const WORD =
  /[[\p{L}\p{N}]&&[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}]]|[[\p{L}\p{N}]--[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}]]+/gv;
const ASCII = /^[\0-\x7f]*$/;
const ASCII_WORD = /[a-z0-9]+/g;
/** All marks on letters except the two that make another Japanese character. */
const ACCENT = /[\p{M}--[\u3099\u309a]]/gv;

/** A word as the index has it: with its integration's scope, so that other integrations' words are never read. */
export interface SoughtWord {
  readonly text: string;
  /** True if longer words that begin with it are found too. */
  readonly isPrefix: boolean;
}

/** All must occur. The last one is a prefix. */
export type SoughtWords = readonly SoughtWord[];

/** Returns the words in the text's order, repeated ones too. */
function listWords(text: string): string[] {
  const beginning = cut(text, TEXT_CHARACTERS);
  if (ASCII.test(beginning)) return beginning.toLowerCase().match(ASCII_WORD)?.map(shorten) ?? [];
  return fold(beginning).match(WORD)?.map(shorten) ?? [];
}

/** The upper case first: `ß` and `SS` are the same letters. Composed again, because Korean syllables are decomposed too. */
const fold = (text: string): string =>
  text.normalize('NFKD').replace(ACCENT, '').toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC');

const shorten = (word: string): string => cut(word, WORD_CHARACTERS);

function cut(text: string, characters: number): string {
  if (text.length <= characters) return text;
  return Array.from(text.slice(0, 2 * characters))
    .slice(0, characters)
    .join('');
}

/** Two integrations can have the same scope: the lists are filtered by the integration too. */
export const wordScope = (integrationId: IntegrationId): string =>
  BigInt(`0x${hash('sha256', integrationId, 'hex').slice(0, 16)}`)
    .toString(36)
    .slice(-SCOPE_CHARACTERS)
    .padStart(SCOPE_CHARACTERS, '0');

/** Returns all words in these texts, each once, without a scope. */
export function distinctWords(texts: readonly string[]): Set<string> {
  const words = new Set<string>();
  for (const text of texts) for (const word of listWords(text)) words.add(word);
  return words;
}

/** The words as the index has them, with spaces between them. */
export const indexedText = (integrationId: IntegrationId, words: ReadonlySet<string>): string => {
  const scope = wordScope(integrationId);
  return words.size === 0 ? '' : scope + [...words].join(` ${scope}`);
};

/** Throws a `Refusal` if the text has no word. */
export function soughtWords(integrationId: IntegrationId, text: string): SoughtWords {
  const words = listWords(text);
  const last = words.pop();
  if (last === undefined) {
    throw new Refusal(
      'invalid_request',
      '`q` must have a letter or a digit: these are the words that are searched for.',
    );
  }
  const scope = wordScope(integrationId);
  const whole = [...new Set(words)].map((word) => ({ text: scope + word, isPrefix: false }));
  return [...whole, { text: scope + last, isPrefix: true }];
}

/** Returns which words occur among words of the same integration. */
export const occurringWords = (sought: SoughtWords, words: ReadonlySet<string>): boolean[] =>
  sought.map(({ text, isPrefix }) => {
    const plain = text.slice(SCOPE_CHARACTERS);
    return words.has(plain) || (isPrefix && words.values().some((word) => word.startsWith(plain)));
  });
