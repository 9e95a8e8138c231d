import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DuplicateMember, NotJson, readJson } from './read-json.ts';

/** Returns null if the reader stopped at a duplicate member: it did not read what follows. */
const takes = (text: string): boolean | null => {
  try {
    readJson(text);
    return true;
  } catch (error) {
    assert.ok(error instanceof NotJson || error instanceof DuplicateMember, String(error));
    return error instanceof DuplicateMember ? null : false;
  }
};

const jsonParseTakes = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

test('accepts only the numbers, words, strings and white space of JSON', () => {
  const signs = [
    '-',
    '+',
    '0',
    '1',
    '9',
    '.',
    'e',
    'E',
    'true',
    'null',
    'fals',
    '"',
    '\\',
    '\\u00',
    'b',
    ' ',
    '\u00a0',
  ];
  const parts = fc.array(fc.constantFrom(...signs, '\n', '\u0001', '\ufeff', 'é', '/', '\ud800'), { maxLength: 8 });
  fc.assert(
    fc.property(parts, fc.boolean(), (all, inQuotes) => {
      const text = inQuotes ? `"${all.join('')}"` : all.join('');
      assert.equal(takes(text), jsonParseTakes(text), JSON.stringify(text));
      if (takes(text)) assert.equal(readJson(text), JSON.parse(text));
    }),
    { numRuns: 3000 },
  );
  for (const text of ['-0', '1e400', '5e-324', '0.1', '-12.5E+3', '123456789012345678901234567890']) {
    assert.equal(readJson(text), JSON.parse(text), text);
  }
});

test('accepts brackets, commas and colons only in the positions of JSON', () => {
  const signs = ['{', '}', '[', ']', ',', ':', '"a"', '"b"', '1', ' '];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...signs), { maxLength: 9 }), (all) => {
      const text = all.join('');
      const taken = takes(text);
      if (taken === null) assert.match(text, /("[ab]")\s*:.*\1/s);
      else assert.equal(taken, jsonParseTakes(text), text);
    }),
    { numRuns: 5000 },
  );
  for (const text of ['{}', '[]', '[{}]', '{"a":[]}', ' [ 1 , { "a" : null } ] ']) {
    assert.deepEqual(readJson(text), JSON.parse(text));
  }
  for (const text of ['', '{', '[1,]', '{"a":1,}', '{"a"}', '[1 2]', '[]]', '{a:1}', '"a', '"\\"']) {
    assert.equal(takes(text), false, text);
  }
});

test('reports a duplicate name and accepts names that every object inherits', () => {
  assert.throws(
    () => readJson('{"a":1,"b":{"c":1,"\\u0063":2}}'),
    (error) => error instanceof DuplicateMember && error.member === 'c',
  );
  const read = readJson('{"__proto__":{"x":1},"toString":2,"1":3,"0":4}') as Record<string, unknown>;
  assert.deepEqual(Object.entries(read), [
    ['0', 4],
    ['1', 3],
    ['__proto__', { x: 1 }],
    ['toString', 2],
  ]);
  assert.equal(Object.getPrototypeOf(read), Object.prototype);
});

test('reads a string of many megabytes', () => {
  const long = '\\"x'.repeat(5_000_000);
  assert.equal((readJson(`["${long}"]`) as string[])[0]?.length, 10_000_000);
});
