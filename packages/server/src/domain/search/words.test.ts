import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newIntegrationId } from '../ids.ts';
import { Refusal } from '../refusal.ts';
import { distinctWords, indexedText, occurringWords, soughtWords, wordScope } from './words.ts';

const demo = newIntegrationId('demo');

const CASES: readonly [text: string, words: readonly string[]][] = [
  ['A refund, please: #4711!', ['a', 'refund', 'please', '4711']],
  ['Crème BRÛLÉE naïve', ['creme', 'brulee', 'naive']],
  ['STRASSE Straße', ['strasse']],
  ['ΟΔΟΣ οδός', ['οδοσ']],
  ['İstanbul ısı', ['istanbul', 'isi']],
  ['東京タワー 2階', ['東', '京', 'タ', 'ワ', 'ー', '2', '階']],
  ['かが 한국어', ['か', 'が', '한', '국', '어']],
  ['ｆｕｌｌ ﬁn x²', ['full', 'fin', 'x2']],
  ['snake_case kebab-case a.b', ['snake', 'case', 'kebab', 'a', 'b']],
  ['"OR" NOT* (x) ^y', ['or', 'not', 'x', 'y']],
  ['😀 \u0000 \ud800', []],
];

test('a text becomes words without case, accents and signs', () => {
  for (const [text, words] of CASES) assert.deepEqual([...distinctWords([text])], words, text);
  const scope = wordScope(demo);
  assert.equal(indexedText(demo, distinctWords(['A refund', 'a'])), `${scope}a ${scope}refund`);
});

test('words are cut to 64 characters, and texts to 20 000', () => {
  const [word = ''] = distinctWords(['𝒳x'.repeat(40)]);
  assert.equal([...word].length, 64);
  assert.deepEqual([...distinctWords([`${'. '.repeat(10_000)}late`])], []);
  assert.deepEqual([...distinctWords([`${'. '.repeat(9_998)}late`])], ['late']);
});

test('all words must occur, the last one as a prefix', () => {
  const words = distinctWords(['The refund arrives tomorrow.']);
  const finds = (q: string) => occurringWords(soughtWords(demo, q), words).every(Boolean);
  assert.deepEqual(['REFUND', 'tomorrow refu', 'arr', 'the the the'].map(finds), [true, true, true, true]);
  assert.deepEqual(['refu tomorrow', 'refunds', 'other'].map(finds), [false, false, false]);
  assert.notEqual(wordScope(demo), wordScope(newIntegrationId('other')));
  for (const q of ['', ' ', '"*"', '😀']) assert.throws(() => soughtWords(demo, q), Refusal);
});
