import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AnswerEvents, type EventReader } from './answer-events.ts';
import { MessagesReader } from './messages-reader.ts';
import { ChatReader } from './openai-chat.ts';
import { ResponsesReader } from './openai-responses.ts';
import type { ReaderClass } from './protocol-call.ts';
import { providerSettingNames } from './providers.ts';
import { RepeatedDelta } from './repeated-delta.ts';
import { Listener } from './testing/model-conformance.ts';

const target = { model: 'm', apiKey: null, settings: providerSettingNames('openai') };

interface Protocol {
  readonly reader: ReaderClass<EventReader>;
  readonly start: readonly string[];
  /** A delta's event, of which `other` differs from event to event. */
  delta(text: string, other: number): string;
}

const block = (index: number) =>
  `{"type":"content_block_start","index":${index},"content_block":{"type":"text","text":""}}`;

const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  responses: {
    reader: ResponsesReader,
    start: ['{"type":"response.created"}'],
    delta: (text, other) =>
      `{"type":"response.output_text.delta","sequence_number":${other},"item_id":"i${other % 7 === 0 ? 1 : 0}",` +
      `"output_index":0,"content_index":0,"delta":${text},"logprobs":[],"obfuscation":"${'x'.repeat(other % 5)}"}`,
  },
  chat: {
    reader: ChatReader,
    start: [],
    delta: (text, other) =>
      `{"id":"c","choices":[{"index":0,"delta":{"content":${text}${other % 7 === 0 ? ',"reasoning":"Hm"' : ''}}}]}`,
  },
  messages: {
    reader: MessagesReader,
    start: ['{"type":"message_start","message":{}}', block(0), block(1)],
    delta: (text, other) =>
      `{"type":"content_block_delta","index":${other % 7 === 0 ? 1 : 0},"delta":{"type":"text_delta","text":${text}}}`,
  },
};

/** What the provider wants back, if it wants anything. */
const readContent = (reader: EventReader) => (reader instanceof MessagesReader ? reader.content : null);

/** What the reader passes on if it parses every event. */
function parseAll({ reader: Reader }: Protocol, events: readonly string[]) {
  const output = new Listener();
  const reader = new Reader(target, output);
  for (const data of events) reader.event(data);
  return [output.heard, readContent(reader)];
}

function readBytes({ reader: Reader }: Protocol, bytes: Buffer, cuts: readonly number[]) {
  const output = new Listener();
  const reader = new Reader(target, output);
  const events = new AnswerEvents(reader);
  const offsets = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
  for (const [index, end] of offsets.slice(1).entries()) {
    if (end > (offsets[index] ?? 0)) events.push(bytes.subarray(offsets[index], end));
  }
  return [output.heard, readContent(reader)];
}

for (const [api, protocol] of Object.entries(PROTOCOLS)) {
  test(`${api}: repeated deltas are passed on like parsed ones, cut anywhere`, () => {
    const text = fc.oneof(fc.constantFrom('Hi', ' you', 'é😀', '\ud800', '"', '\\', '\n', '\u0001', ''), fc.string());
    const event = fc.tuple(text, fc.nat(40), fc.constantFrom('', ': ping\n\n', 'event: delta\n'));
    const property = fc.property(
      fc.array(event, { minLength: 1, maxLength: 12 }),
      fc.array(fc.nat(), { maxLength: 6 }),
      fc.constantFrom('\n', '\r\n'),
      (events, cuts, end) => {
        const all = [...protocol.start, ...events.map(([one, other]) => protocol.delta(JSON.stringify(one), other))];
        const written = all.map((data, index) => {
          const before = events[index - protocol.start.length]?.[2] ?? '';
          return `${before}data: ${data}\n\n`.replaceAll('\n', end);
        });
        const ends = written.map((_, index) => Buffer.byteLength(written.slice(0, index).join('')));
        const bytes = Buffer.from(written.join(''));
        const expected = parseAll(protocol, all);
        assert.deepEqual(readBytes(protocol, bytes, ends), expected);
        assert.deepEqual(readBytes(protocol, bytes, cuts), expected);
      },
    );
    fc.assert(property, { numRuns: 150 });
  });

  test(`${api}: only the first of equal deltas is parsed`, (t) => {
    const { mock } = t.mock.method(JSON, 'parse');
    const all = [...protocol.start, ...Array.from({ length: 9 }, (_, index) => protocol.delta('"Hi"', index * 7 + 1))];
    const chunks = all.map((data) => Buffer.from(`event: x\ndata: ${data}\n\n`));
    const output = new Listener();
    const events = new AnswerEvents(new protocol.reader(target, output));
    for (const chunk of chunks.slice(0, protocol.start.length + 1)) events.push(chunk);
    const parsed = mock.callCount();
    events.push(Buffer.concat(chunks.slice(protocol.start.length + 1, -2)));
    for (const chunk of chunks.slice(-2)) events.push(chunk);
    assert.deepEqual([output.all('text'), mock.callCount()], ['Hi'.repeat(9), parsed]);
  });
}

test('an event that leaves a doubt which bytes are its text is not repeated', () => {
  const learn = (data: string) => RepeatedDelta.learn(Buffer.from(`data: ${data}\n\n`), 'delta', 'A');
  assert.notEqual(learn('{"delta":"A"}'), null);
  assert.equal(learn('{"delta":"\\u0041"}'), null);
  assert.equal(learn('{"delta":"A","x":"\\n"}'), null);
  assert.equal(learn('{"x":{"delta":"A"},"delta":"A"}'), null);
  assert.equal(learn('{"x":{"delta":"A"},"delta" : "A"}'), null);
  assert.equal(learn('{"delta":"B"}'), null);
});
