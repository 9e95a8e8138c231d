import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exchangeItems } from './exchange-window.ts';

const exchange = (message: string, answer: string) => ({ message, answer, answeredAt: 0 });

test('drops the oldest exchanges until the rest fits', () => {
  // Each has 100 tokens.
  const all = ['a', 'b', 'c'].map((letter) => exchange(letter.repeat(200), letter.repeat(200)));
  const shown = (budget: number) => exchangeItems(all, budget).map((item) => 'text' in item && item.text[0]);
  assert.deepEqual(shown(300), ['a', 'a', 'b', 'b', 'c', 'c']);
  assert.deepEqual(shown(299), ['b', 'b', 'c', 'c']);
  assert.deepEqual(shown(99), []);
});

test('an older exchange is not shown without the newer ones', () => {
  assert.deepEqual(exchangeItems([exchange('When?', 'In May.'), exchange('Why?', 'b'.repeat(4000))], 500), []);
});
