import { hash } from 'node:crypto';
import type { IntegrationId } from '../ids.ts';
import { Refusal } from '../refusal.ts';

/** Only a text's beginning is searched. Characters are code points. */
export const TEXT_CHARACTERS = 20_000;
export const WORD_CHARACTERS = 64;
/** A word of the index begins with its integration's scope. */
export const SCOPE_CHARACTERS = 5;

/** Each Chinese, Japanese or Korean character is a word. */
const WORD =
  /[[\p{L}\p{N}]&&[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}]]|[[\p{L}\p{N}]--[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}]]+/gv;
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
export const listWords = (text: string): string[] => fold(cut(text, TEXT_CHARACTERS)).match(WORD)?.map(shorten) ?? [];

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

/** Returns which words occur among a turn's words, as `WordCollector` returns them. */
export function occurringWords(sought: SoughtWords, words: string): boolean[] {
  const text = ` ${words} `;
  return sought.map((word) => text.includes(word.isPrefix ? ` ${word.text}` : ` ${word.text} `));
}
