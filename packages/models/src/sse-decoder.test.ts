import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SseDecoder, SseTooLarge } from './sse-decoder.ts';

interface ReferenceParser {
  createParser(callbacks: { onEvent(event: { event?: string; data: string }): void }): { feed(text: string): void };
}

// Imported by its path: under the condition `source` the package exports TypeScript, which Node does not run in
// node_modules.
const built = new URL('./dist/index.js', import.meta.resolve('eventsource-parser/package.json'));
const { createParser } = (await import(built.href)) as ReferenceParser;

type Event = readonly [event: string, data: string];

function decode(pieces: Iterable<Uint8Array>, maxChars = 1e9): Event[] {
  const events: Event[] = [];
  const decoder = new SseDecoder((event, data) => events.push([event, data]), maxChars);
  for (const piece of pieces) decoder.push(piece);
  return events;
}

/** An independent parser that gets the whole text in one call. */
function reference(bytes: Uint8Array): Event[] {
  const events: Event[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => events.push([event ?? 'message', data]) });
  parser.feed(new TextDecoder().decode(bytes));
  return events;
}

function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const offsets = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
  return offsets.slice(1).map((end, index) => bytes.subarray(offsets[index], end));
}

const STREAM = [
  '\ufeff: a comment\r\n\r\n',
  'event: first\r\ndata: {"a":1}\r\n\r\n',
  'data: é€😀\ndata:second line\ndata\n\n',
  'data: by CR alone\revent: cr\r\r',
  'data:\n\nid: 1\nretry: 5\ndatum: x\nevent: dropped\n\n',
  'data:  two spaces: kept\n\n:\n\r\rdata: [DONE]\n\n',
].join('');

test('gives the same events for every cut into two or three pieces or single bytes', () => {
  const bytes = Buffer.from(STREAM);
  const expected = reference(bytes);
  assert.equal(expected.length, 6);
  assert.deepEqual(decode(Array.from(bytes, (byte) => Uint8Array.of(byte))), expected);
  for (let first = 0; first <= bytes.length; first += 1) {
    for (let second = first; second <= bytes.length; second += 1) {
      assert.deepEqual(decode(cutAt(bytes, [first, second])), expected, `cut at ${first} and ${second}`);
    }
  }
});

test('reads any text, cut anywhere, like eventsource-parser', () => {
  const part = fc.oneof(
    fc.constantFrom('data', 'event', 'id', 'dat', 'datax', ':', ': ', ' ', '\n', '\r', '\r\n', '\n\n', '\r\r', 'é😀€'),
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    fc.constantFrom('data: ', 'event: ', 'data:', ': ping'),
  );
  const stream = fc.tuple(fc.boolean(), fc.array(part, { maxLength: 40 }));
  const property = fc.property(stream, fc.array(fc.nat(), { maxLength: 12 }), ([bom, parts], cuts) => {
    const bytes = Buffer.from(`${bom ? '\ufeff' : ''}${parts.join('')}\n\n`);
    const offsets = cuts.map((cut) => cut % (bytes.length + 1));
    assert.deepEqual(decode(cutAt(bytes, offsets)), reference(bytes));
  });
  fc.assert(property, { numRuns: 3000 });
});

test('ignores text after the last empty line', () => {
  assert.deepEqual(decode([Buffer.from('data: a\n\ndata: b\n')]), [['message', 'a']]);
});

test('accepts an event of 10 MB in any pieces and refuses one over the limit', () => {
  const text = 'x'.repeat(10 * 1024 * 1024);
  const bytes = Buffer.from(`data: ${text}\n\n`);
  const pieces = Array.from({ length: Math.ceil(bytes.length / 1024) }, (_, i) =>
    bytes.subarray(i * 1024, (i + 1) * 1024),
  );
  const events = decode(pieces);
  assert.equal(events.length, 1);
  assert.equal(events[0]?.[1] === text, true);
  assert.throws(() => decode(pieces, 1024 * 1024), SseTooLarge);
  const lines = Buffer.from('data: 1234567890\n'.repeat(100));
  assert.throws(() => decode([lines], 1000), SseTooLarge);
});

test('the time for a piece grows linearly with its length for every line end', () => {
  for (const end of ['\n', '\r', '\r\n']) {
    const bytes = Buffer.from(`data: a${end}${end}`.repeat(300_000));
    const before = performance.now();
    assert.equal(decode([bytes]).length, 300_000);
    // Searching each line to the end of the piece would take minutes.
    assert.ok(performance.now() - before < 10_000);
  }
});
