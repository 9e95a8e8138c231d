import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cutAt, LineSplitter, NotText, toText } from './text-lines.ts';

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const text = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\n', '\r', ' '), maxLength: 60 });

test('splits text in any pieces into complete, numbered lines', async () => {
  const sizes = fc.integer({ min: 1, max: 9 });
  const property = fc.asyncProperty(text, sizes, fc.integer({ min: 2, max: 7 }), async (given, size, maxPiece) => {
    const splitter = new LineSplitter(maxPiece);
    const lines: string[] = [];
    let ended = 0;
    const take = (pieces: ReturnType<LineSplitter['push']>) => {
      for (const { line, at, text: piece, endsLine } of pieces) {
        assert.ok(piece.length <= maxPiece && piece.isWellFormed());
        assert.equal(line, ended + 1);
        assert.equal((lines[line - 1] ?? '').length, at);
        lines[line - 1] = (lines[line - 1] ?? '') + piece;
        if (endsLine) ended += 1;
      }
    };
    for await (const { text: decoded } of toText(inPieces(Buffer.from(given), size))) take(splitter.push(decoded));
    take(splitter.end());
    const expected = given.split('\n');
    if (expected.at(-1) === '') expected.pop();
    assert.equal(lines.length, expected.length);
    for (const [index, line] of expected.entries()) {
      // If a piece ends between CR and LF, the CR stays in the line.
      assert.ok([line, line.replace(/\r$/, '')].includes(lines[index] ?? ''), JSON.stringify(lines));
    }
  });
  await fc.assert(property, { numRuns: 2000 });
});

test('bytes that are not UTF-8 or contain NUL are no text', async () => {
  const all = async (bytes: Uint8Array) => {
    for await (const _ of toText(inPieces(bytes, 3)));
  };
  for (const bytes of [
    [0xff, 0xfe, 0x41, 0],
    [0x41, 0x42, 0xc3],
    [0x41, 0x42, 0x43, 0],
    [0xed, 0xa0, 0x80],
  ]) {
    await assert.rejects(all(Uint8Array.from(bytes)), NotText, String(bytes));
  }
  await all(Buffer.from('\ufeffGröße'));
});

test('a text is not cut within a character', () => {
  assert.deepEqual([cutAt('a😀b', 2), cutAt('a😀b', 3), cutAt('ab', 2)], ['a', 'a😀', 'ab']);
});
