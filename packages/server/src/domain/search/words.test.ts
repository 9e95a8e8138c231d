import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { newIntegrationId } from '../ids.ts';
import { Refusal } from '../refusal.ts';
import { WordCollector } from './word-collector.ts';
import { listWords, occurringWords, soughtWords, wordScope } from './words.ts';

const demo = newIntegrationId('demo');
const scope = wordScope(demo);
const collector = new WordCollector();

function collect(add: () => void): string {
  collector.begin(demo);
  add();
  return collector.end().words;
}

/** The words of a text, and of its JSON, without the scope. */
function listDistinct(text: string): string[] {
  const words = collect(() => collector.addText(text));
  assert.equal(
    collect(() => collector.addJson(JSON.stringify(text))),
    words,
  );
  return words === '' ? [] : words.split(' ').map((word) => word.slice(scope.length));
}

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
  for (const [text, words] of CASES) assert.deepEqual(listDistinct(text), words, text);
  const [texts, words] = [CASES.map(([text]) => text), CASES.flatMap((entry) => entry[1])];
  const all = collect(() => {
    for (const text of texts) collector.addText(text);
  });
  assert.deepEqual(
    all.split(' '),
    [...new Set(words)].map((word) => scope + word),
  );
  assert.equal(collector.end().count, new Set(words).size);
});

test('words are cut to 64 characters, and texts to 20 000', () => {
  const [word = ''] = listDistinct('𝒳x'.repeat(40));
  assert.equal([...word].length, 64);
  assert.deepEqual(listDistinct(`${'x'.repeat(64)}y ${'x'.repeat(65)}`), ['x'.repeat(64)]);
  for (const filler of ['. ', '\n"', 'é.']) {
    const words = [...new Set(listWords(filler))];
    assert.deepEqual(listDistinct(`${filler.repeat(10_000)}late`), words);
    assert.deepEqual(listDistinct(`${filler.repeat(9_998)}late`), [...words, 'late']);
  }
});

test('the same words are found whether a text is short, long or cut JSON', () => {
  const part = fc.oneof(
    fc.stringMatching(/^[a-zA-Z0-9]{1,80}$/),
    fc.constantFrom(' ', '\n', '\\', '"', '-', 'É', '字', '😀', '\u0000'),
  );
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 700 }).map((parts) => parts.join('')),
      (text) => {
        assert.deepEqual(listDistinct(text), [...new Set(listWords(text))]);
      },
    ),
  );
  assert.equal(
    collect(() => collector.addJson('"one two\\')),
    `${scope}one ${scope}two`,
  );
});

test('all words must occur, the last one as a prefix', () => {
  const words = collect(() => collector.addText('The refund arrives tomorrow.'));
  const finds = (q: string) => occurringWords(soughtWords(demo, q), words).every(Boolean);
  assert.deepEqual(['REFUND', 'tomorrow refu', 'arr', 'the the the'].map(finds), [true, true, true, true]);
  assert.deepEqual(['refu tomorrow', 'refunds', 'other'].map(finds), [false, false, false]);
  assert.notEqual(wordScope(demo), wordScope(newIntegrationId('other')));
  for (const q of ['', ' ', '"*"', '😀']) assert.throws(() => soughtWords(demo, q), Refusal);
});
