import assert from 'node:assert/strict';
import test from 'node:test';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CellMap, CellSet } from './cells.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as (options: { readonly type: 'minor' | 'major' }) => void;
const collectYoung = () => gc({ type: 'minor' });
const LIVE = 32;
const CHANGES = 3000;
const VALUE_BYTES = 8 * 1000;

function oldBytes(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')?.space_used_size ?? 0;
}

/** Replaces the values of a collection whose table is in the old generation. Returns how much the old generation grew. */
function growth(add: (key: number, value: object) => () => void): number {
  const remove: (() => void)[] = [];
  const change = (key: number) => {
    remove.push(add(key, new Array(VALUE_BYTES / 8).fill(key)));
    if (remove.length > LIVE) remove.shift()?.();
  };
  for (let key = 0; key < LIVE; key += 1) change(key);
  gc({ type: 'major' });
  const before = oldBytes();
  for (let key = LIVE; key < CHANGES; key += 1) {
    change(key);
    if (key % 100 === 0) collectYoung();
  }
  return oldBytes() - before;
}

test('removed values do not reach the old generation', () => {
  const map = new CellMap<number, object>();
  const ofMap = growth((key, value) => {
    map.set(key, value);
    return () => map.delete(key);
  });
  const set = new CellSet<object>();
  const ofSet = growth((_, value) => {
    const cell = set.add(value);
    return () => set.delete(cell);
  });
  const limit = (CHANGES / 10) * VALUE_BYTES;
  assert.ok(ofMap < limit, `the map added ${ofMap} bytes to the old generation`);
  assert.ok(ofSet < limit, `the set added ${ofSet} bytes to the old generation`);
  const plain = new Map<number, object>();
  const ofPlain = growth((key, value) => {
    plain.set(key, value);
    return () => plain.delete(key);
  });
  assert.ok(ofPlain > limit, `a plain map added only ${ofPlain} bytes, so cells are not needed any more`);
});

test('a map and a set of cells contain what was added and not removed', () => {
  const map = new CellMap<string, { readonly n: number }>();
  map.set('a', { n: 1 });
  map.set('b', { n: 2 });
  map.set('a', { n: 3 });
  assert.deepEqual([...map].toSorted(), [
    ['a', { n: 3 }],
    ['b', { n: 2 }],
  ]);
  map.delete('a');
  assert.deepEqual([map.size, map.get('a'), [...map.keys()], [...map.values()]], [1, undefined, ['b'], [{ n: 2 }]]);
  map.clear();
  assert.equal(map.size, 0);
  const set = new CellSet<{ readonly n: number }>();
  const first = set.add({ n: 1 });
  const second = set.add({ n: 2 });
  const seen: number[] = [];
  for (const { n } of set) {
    seen.push(n);
    set.delete(second);
  }
  assert.deepEqual(seen, [1]);
  assert.deepEqual([set.delete(first), set.delete(first), set.size], [true, false, 0]);
});
