import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type * as module from './sortable-id.ts';

// An instance of its own: these tests move its clock ahead, and other tests of this process would get ids of the future.
const { sortableId }: typeof module = await import(new URL('./sortable-id.ts?tested', import.meta.url).href);

const FORM = /^[0-9a-hjkmnp-tv-z]{26}$/;

test('ids of one process are unique and sort in the order of creation', () => {
  const ids = Array.from({ length: 100_000 }, () => sortableId());
  for (const [place, id] of ids.entries()) {
    assert.match(id, FORM);
    assert.ok(place === 0 || id > (ids[place - 1] ?? ''), `id ${place}`);
  }
});

test('ids stay sorted if the clock stops, jumps ahead or runs backwards', () => {
  const start = Date.now();
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -10_000, max: 10_000 }), { maxLength: 200 }), (steps) => {
      let last = sortableId(start);
      for (const step of steps) {
        const next = sortableId(start + step);
        assert.ok(next > last, `${next} after ${last}`);
        last = next;
      }
    }),
  );
});

test('more ids than fit into a millisecond stay sorted', () => {
  const now = Date.now() + 1_000_000;
  let last = sortableId(now);
  for (let i = 0; i < 2 * 32 ** 3 + 10; i += 1) {
    const next = sortableId(now);
    assert.ok(next > last);
    last = next;
  }
});

test('the first ten characters are the millisecond', () => {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
  const now = Date.now() + 10_000_000;
  let read = 0;
  for (const character of sortableId(now).slice(0, 10)) read = read * 32 + alphabet.indexOf(character);
  assert.equal(read, now);
});
