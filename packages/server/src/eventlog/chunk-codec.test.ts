import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  eventWidth,
  lastFrameId,
  type OutputItem,
  type RunEvent,
  type RunEventBody,
  type RunItem,
} from '../domain/run/events.ts';
import { decodeChunk, encodeChunk } from './chunk-codec.ts';

/** Plain objects, like those of the engine. */
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<T>;

/** Any text, including U+0000, line ends, U+2028 and lone surrogates. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 5 }).map((codes) => String.fromCharCode(...codes)),
  fc.constantFrom('', '\0', '\ud800', '\udc00\ud800', '\r\n', '\u2028', '"\\', '__proto__'),
);
const name = fc.oneof(text, fc.constantFrom('Concierge', 'i', 't', 'v'));
const agents = { agent: name, callerAgent: fc.option(name) };
const written = { text, complete: fc.boolean(), timestamp: fc.nat() };
const output: fc.Arbitrary<OutputItem> = fc.oneof(
  record({ kind: fc.constant('message' as const), id: name, ...agents, outputIndex: fc.nat(9), ...written }),
  record({ kind: fc.constant('reasoning' as const), id: name, ...agents, outputIndex: fc.nat(9), ...written }),
  record({
    kind: fc.constant('tool_call' as const),
    id: name,
    ...agents,
    outputIndex: fc.nat(9),
    callId: name,
    name,
    ...written,
  }),
);
const other: fc.Arbitrary<RunItem> = fc.oneof(
  record({ kind: fc.constant('tool_output' as const), ...agents, callId: name, text, timestamp: fc.nat() }),
  record({
    kind: fc.constant('tool_output' as const),
    ...agents,
    callId: name,
    text,
    timestamp: fc.nat(),
    failed: fc.constant(true as const),
  }),
  record({ kind: fc.constant('user' as const), agent: name, text, timestamp: fc.nat() }),
);
const usage = record({
  requestCount: fc.nat(),
  inputTokens: fc.nat(),
  cachedTokens: fc.nat(),
  outputTokens: fc.nat(),
  reasoningTokens: fc.nat(),
});
const response = record({ id: name, model: name, ...agents });
const error = record({ code: fc.constant('model_error' as const), message: text });

/** Events that refer to a few shared items, like those of a run. */
const bodies = fc
  .tuple(fc.array(output, { minLength: 1, maxLength: 3 }), fc.array(other, { minLength: 1, maxLength: 2 }))
  .chain(([outputs, others]) => {
    const item = fc.constantFrom(...outputs);
    const anyItem = fc.constantFrom(...outputs, ...others);
    const delta = record({ type: fc.constant('delta' as const), item, text });
    const body: fc.Arbitrary<RunEventBody> = fc.oneof(
      { arbitrary: delta, weight: 5 },
      record({
        type: fc.constant('meta' as const),
        meta: record({
          runId: name,
          chatId: name,
          aliasChatId: fc.option(name),
          usageRequestId: fc.option(name),
          consumerId: fc.option(name),
          agent: name,
          createdAt: fc.nat(),
        }),
      }),
      record({ type: fc.constant('response_created' as const), response }),
      record({ type: fc.constant('item_added' as const), item }),
      record({ type: fc.constant('item_done' as const), item }),
      record({
        type: fc.constant('response_done' as const),
        response,
        output: fc.array(item, { maxLength: 3 }),
        usage,
      }),
      record({
        type: fc.constant('run_item' as const),
        name: fc.constantFrom('message_output_created' as const, 'tool_output' as const),
        item: anyItem,
      }),
      record({ type: fc.constant('resumed' as const), runId: name, attempt: fc.nat(), discardAfter: fc.nat() }),
      record({ type: fc.constant('error' as const), runId: name, error }),
      record({
        type: fc.constant('messages' as const),
        runId: name,
        chatId: name,
        status: fc.constantFrom('completed' as const, 'failed' as const, 'cancelled' as const),
        items: fc.array(anyItem, { maxLength: 4 }),
        usage,
        error: fc.option(error),
      }),
      record({ type: fc.constant('end' as const) }),
    );
    return fc.array(body, { maxLength: 20 });
  });

const firstId = fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1_000_000_001, max: 5_000_000_000 }));

function numbered(first: number, events: readonly RunEventBody[]): RunEvent[] {
  let id = first;
  return events.map((body) => {
    const event = { ...body, id } as RunEvent;
    id += eventWidth(body);
    return event;
  });
}

/** Only some events carry their item's text; for the others the deltas have it. */
function comparable(event: RunEvent): unknown {
  if (event.type === 'item_added' || event.type === 'delta') return { ...event, item: { ...event.item, text: null } };
  return event;
}

test('decodes every event, text and id that was encoded', () => {
  fc.assert(
    fc.property(firstId, bodies, (first, made) => {
      const events = numbered(first, made);
      const { events: back } = decodeChunk(first, encodeChunk(events));
      assert.deepEqual(back.map(comparable), events.map(comparable));
    }),
    { numRuns: 300 },
  );
});

test('derives ids from the first one and the widths, without a gap', () => {
  fc.assert(
    fc.property(firstId, bodies, (first, made) => {
      const { events: back } = decodeChunk(first, encodeChunk(numbered(first, made)));
      let next = first;
      for (const event of back) {
        assert.equal(event.id, next);
        next = lastFrameId(event) + 1;
      }
    }),
  );
});

test('encodes text that every database accepts: no U+0000, no lone surrogates', () => {
  fc.assert(
    fc.property(firstId, bodies, (first, made) => {
      const data = encodeChunk(numbered(first, made));
      assert.ok(data.isWellFormed());
      assert.ok(!data.includes('\0'));
    }),
  );
});

test('a delta costs its text and three bytes', () => {
  const item: OutputItem = {
    kind: 'message',
    id: 'msg_1',
    agent: 'Concierge',
    callerAgent: null,
    outputIndex: 0,
    text: 'x'.repeat(5000),
    complete: false,
    timestamp: 1,
  };
  const deltas = (count: number) =>
    numbered(
      1,
      Array.from({ length: count }, () => ({ type: 'delta' as const, item, text: 'token' })),
    );
  assert.equal(encodeChunk(deltas(1001)).length - encodeChunk(deltas(1)).length, 1000 * ('token'.length + 3));
});

test('refuses a chunk of an unknown format', () => {
  assert.throws(() => decodeChunk(1, '{"v":3,"i":[],"e":[]}'), /unknown format 3/);
  assert.throws(() => decodeChunk(1, '{"v":1,"i":[],"e":[[0,"a"]]}'), /item 0, which it does not contain/);
});
