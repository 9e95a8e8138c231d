import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LruCache } from './lru-cache.ts';

test('keeps only the most recently used entries, up to its limit', () => {
  const use = fc.record({ kind: fc.constantFrom('get', 'set', 'clear'), key: fc.integer({ min: 0, max: 9 }) });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(use, { maxLength: 100 }), (max, uses) => {
      const cache = new LruCache<number, string>(max);
      let recent: [number, string][] = [];
      for (const [place, { kind, key }] of uses.entries()) {
        const known = recent.find(([other]) => other === key);
        if (kind === 'get') assert.equal(cache.get(key), known?.[1]);
        if (kind === 'clear') {
          cache.clear();
          recent = [];
        } else if (kind === 'set' || known !== undefined) {
          const value = kind === 'set' ? `${place}` : (known?.[1] ?? '');
          if (kind === 'set') cache.set(key, value);
          recent = [...recent.filter(([other]) => other !== key), [key, value] as [number, string]].slice(-max);
        }
        assert.equal(cache.size, recent.length);
      }
      for (const [key, value] of recent) assert.equal(cache.get(key), value);
    }),
  );
});
