import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testRunId } from '@runwire/test-kit/test-ids.ts';
import fc from 'fast-check';
import { eventSize, lastFrameId, type MessageItem, type RunEvent, type RunEventBody } from '../domain/events.ts';
import { decodeChunk } from './chunk-codec.ts';
import type { LiveReader } from './live-log.ts';
import { type Chunk, RunLog, type RunLogBounds } from './run-log.ts';
import { UnstoredBytes } from './unstored-bytes.ts';

const item: MessageItem = {
  kind: 'message',
  id: 'msg_1',
  agent: 'Concierge',
  callerAgent: null,
  outputIndex: 0,
  text: '',
  complete: false,
  timestamp: 1,
};
const delta = (text: string): RunEventBody => ({ type: 'delta', item, text });
type Bounds = Partial<RunLogBounds> & Pick<RunLogBounds, 'chunkBytes' | 'heldBytes'>;
const newLog = (bounds: Bounds, attempt = 1, unstored = new UnstoredBytes(1_000_000, () => {})) =>
  new RunLog({
    runId: testRunId('run_1'),
    attempt,
    stored: [],
    bounds: { unstoredRunBytes: 1_000_000, ...bounds },
    unstored,
    onAppend: () => {},
  });
const ids = (events: readonly RunEvent[]) => events.map((event) => event.id);

function appended(log: RunLog, body: RunEventBody): RunEvent {
  const event = log.append(body);
  assert.ok(event !== null);
  return event;
}

/** Reads like a connection: first held or stored events, then live ones, each id once. */
class Reader implements LiveReader {
  readonly got: RunEvent[] = [];
  cutOff = false;
  #cursor: number;

  ended(): void {}

  constructor(after = 0) {
    this.#cursor = after;
  }

  catchUp(log: RunLog, stored: readonly RunEvent[]): void {
    for (;;) {
      const held = log.heldAfter(this.#cursor);
      if (held !== null) {
        this.deliver(held.events, held.from);
        log.attach(this);
        return;
      }
      const from = stored.findIndex((event) => lastFrameId(event) > this.#cursor);
      assert.notEqual(from, -1, 'what is no longer held is stored');
      this.deliver(stored.slice(from, from + 1), 0);
    }
  }

  moved(): void {
    assert.fail('the hot end moves nowhere');
  }

  deliver(events: readonly RunEvent[], from: number): void {
    for (const event of events.slice(from)) {
      if (lastFrameId(event) <= this.#cursor) continue;
      this.got.push(event);
      this.#cursor = lastFrameId(event);
    }
  }

  cut(): void {
    this.cutOff = true;
  }
}

type Step =
  | { readonly do: 'append'; readonly kind: 'delta' | 'added' | 'done'; readonly size: number }
  | { readonly do: 'deliver' | 'take' | 'attach' }
  | { readonly do: 'detach' | 'acknowledge'; readonly which: number };

const steps = fc.array(
  fc.oneof(
    {
      arbitrary: fc.record({
        do: fc.constant('append' as const),
        kind: fc.constantFrom('delta' as const, 'delta' as const, 'added' as const, 'done' as const),
        size: fc.oneof(fc.nat(30), fc.nat(500)),
      }),
      weight: 4,
    },
    {
      arbitrary: fc.record({ do: fc.constantFrom('deliver' as const, 'take' as const, 'attach' as const) }),
      weight: 3,
    },
    {
      arbitrary: fc.record({ do: fc.constantFrom('acknowledge' as const, 'detach' as const), which: fc.nat(10) }),
      weight: 2,
    },
  ),
  { maxLength: 80 },
);
const bounds = fc.record({ chunkBytes: fc.integer({ min: 1, max: 600 }), heldBytes: fc.integer({ min: 0, max: 600 }) });

function body(step: Extract<Step, { do: 'append' }>): RunEventBody {
  if (step.kind === 'added') return { type: 'item_added', item };
  if (step.kind === 'done') return { type: 'item_done', item };
  return delta('x'.repeat(step.size));
}

/** The log, and a model of what must be true of it. */
class Rig {
  readonly log: RunLog;
  /** Events of earlier attempts are stored and not part of this log. */
  readonly #base: number;
  readonly #bounds: Bounds;
  readonly #events: RunEvent[] = [];
  readonly #readers: Reader[] = [];
  readonly #detached: { readonly reader: Reader; readonly had: number }[] = [];
  #taken: readonly Chunk[] = [];
  readonly #stored: Chunk[] = [];

  constructor(of: Bounds, attempt: number) {
    this.#bounds = of;
    this.log = newLog(of, attempt);
    this.#base = this.log.lastId;
  }

  get #storedEvents(): RunEvent[] {
    return this.#stored.flatMap((chunk) => decodeChunk(chunk.first_id, chunk.data).events);
  }

  step(step: Step): void {
    switch (step.do) {
      case 'append':
        this.#events.push(appended(this.log, body(step)));
        break;
      case 'deliver':
        this.log.deliver();
        break;
      case 'take':
        this.#take();
        break;
      case 'attach': {
        const reader = new Reader(this.#base);
        this.#readers.push(reader);
        reader.catchUp(this.log, this.#storedEvents);
        break;
      }
      case 'detach': {
        const [reader] = this.#readers.splice(step.which % Math.max(1, this.#readers.length), 1);
        if (reader === undefined) break;
        this.log.detach(reader);
        this.#detached.push({ reader, had: reader.got.length });
        break;
      }
      case 'acknowledge':
        this.#acknowledge(step.which);
        break;
    }
    this.#check();
  }

  #take(): void {
    const chunks = this.log.takeChunks();
    // A chunk keeps its ids and bytes until it is acknowledged, however often it is taken.
    assert.deepEqual(chunks.slice(0, this.#taken.length), this.#taken);
    for (const chunk of chunks) {
      const inside = this.#events.filter((event) => event.id >= chunk.first_id && event.id <= chunk.last_id);
      assert.deepEqual(ids(decodeChunk(chunk.first_id, chunk.data).events), ids(inside));
      const bytes = inside.reduce((sum, event) => sum + eventSize(event), 0);
      assert.ok(inside.length === 1 || bytes <= this.#bounds.chunkBytes, `${inside.length} events, ${bytes} bytes`);
    }
    const all = [...this.#stored, ...chunks];
    for (const [index, chunk] of all.entries()) {
      if (index > 0) assert.equal(chunk.first_id, (all[index - 1]?.last_id ?? 0) + 1, 'no gap and no overlap');
    }
    if (this.#events.length > 0) assert.equal(all.at(-1)?.last_id, this.log.lastId, 'everything is in a chunk');
    this.#taken = chunks;
  }

  #acknowledge(which: number): void {
    const count = this.#taken.length === 0 ? 0 : 1 + (which % this.#taken.length);
    const now = this.#taken.slice(0, count);
    this.#stored.push(...now);
    this.#taken = this.#taken.slice(count);
    this.log.acknowledge(now.at(-1)?.last_id ?? 0);
  }

  #check(): void {
    const storedId = this.#stored.at(-1)?.last_id ?? this.#base;
    for (const cursor of [this.#base, ...this.#events.map(lastFrameId)]) {
      const after = this.#events.filter((event) => lastFrameId(event) > cursor);
      const held = this.log.heldAfter(cursor);
      if (held !== null) assert.deepEqual(ids(held.events.slice(held.from)), ids(after));
      else assert.ok((after[0]?.id ?? Infinity) <= storedId, 'only what is stored is dropped');
    }
    for (const { reader, had } of this.#detached) assert.equal(reader.got.length, had, 'detached: nothing more');
  }

  finish(): void {
    this.log.deliver();
    for (const reader of this.#readers) assert.deepEqual(ids(reader.got), ids(this.#events));
    for (const { reader, had } of this.#detached) assert.deepEqual(ids(reader.got), ids(this.#events.slice(0, had)));
  }
}

test('any interleaving: chunks keep their ids, every reader gets each event once', () => {
  fc.assert(
    fc.property(bounds, fc.integer({ min: 1, max: 3 }), steps, (of, attempt, all) => {
      const rig = new Rig(of, attempt);
      for (const step of all) rig.step(step);
      rig.finish();
    }),
    { numRuns: 300 },
  );
});

test('ids start after the previous attempt and grow by the width of each event', () => {
  const log = newLog({ chunkBytes: 100, heldBytes: 100 }, 2);
  assert.equal(appended(log, { type: 'item_added', item }).id, 1_000_000_001);
  assert.equal(appended(log, delta('a')).id, 1_000_000_003);
  assert.equal(appended(log, { type: 'item_done', item }).id, 1_000_000_004);
  assert.equal(log.lastId, 1_000_000_006);
});

test('drops stored and delivered events above the limit', () => {
  const log = newLog({ chunkBytes: 1000, heldBytes: 50 });
  for (let i = 0; i < 10; i += 1) log.append(delta('0123456789'));
  log.acknowledge(log.takeChunks().at(-1)?.last_id ?? 0);
  assert.notEqual(log.heldAfter(0), null, 'not yet delivered, so still held');
  log.deliver();
  log.append(delta('more'));
  log.acknowledge(log.takeChunks().at(-1)?.last_id ?? 0);
  assert.equal(log.heldAfter(0), null);
  const held = log.heldAfter(10);
  assert.deepEqual(ids(held?.events.slice(held.from) ?? []), [11]);
});

test('sends the events of the end only after they are durable', () => {
  const log = newLog({ chunkBytes: 1000, heldBytes: 1000 });
  const reader = new Reader();
  log.attach(reader);
  log.append(delta('a'));
  const { events, chunks } = log.prepare([{ type: 'end' }]);
  assert.deepEqual(ids(events), [2]);
  assert.equal(chunks.at(-1)?.last_id, 2);
  assert.equal(log.wantsFlush, false);
  log.deliver();
  assert.deepEqual(ids(reader.got), [1]);
  log.publish(events);
  log.deliver();
  assert.deepEqual(ids(reader.got), [1, 2]);
  assert.deepEqual(log.takeChunks(), []);
});

test('appends nothing after a prepared end', () => {
  const log = newLog({ chunkBytes: 1000, heldBytes: 1000 });
  const reader = new Reader();
  log.attach(reader);
  log.append(delta('a'));
  const { events } = log.prepare([{ type: 'end' }]);
  assert.equal(log.append(delta('late')), null);
  log.publish(events);
  assert.equal(log.append(delta('later')), null);
  log.deliver();
  assert.deepEqual(ids(reader.got), [1, 2]);
  assert.equal(log.unstoredBytes, 0);
});

test('a released log counts no bytes, whatever is acknowledged or appended later', () => {
  const unstored = new UnstoredBytes(1000, () => {});
  const [one, other] = [1, 2].map(() => newLog({ chunkBytes: 1000, heldBytes: 1000 }, 1, unstored));
  assert.ok(one !== undefined && other !== undefined);
  let told = 0;
  one.onStored = () => {
    told += 1;
  };
  other.append(delta('y'.repeat(84)));
  one.append(delta('x'.repeat(184)));
  const taken = one.takeChunks().at(-1)?.last_id ?? 0;
  one.release();
  assert.deepEqual([unstored.bytes, one.wantsFlush], [100, false]);
  one.acknowledge(taken);
  assert.equal(one.append(delta('late')), null);
  assert.deepEqual([unstored.bytes, one.unstoredBytes, told], [100, 0, 0]);
});

test('cut closes all readers', () => {
  const log = newLog({ chunkBytes: 1000, heldBytes: 1000 });
  const readers = [new Reader(), new Reader()];
  for (const reader of readers) log.attach(reader);
  assert.equal(log.readerCount, 2);
  log.cut();
  assert.ok(readers.every((reader) => reader.cutOff));
  assert.equal(log.readerCount, 0);
});

test('is full at its own limit or at that of the node, and wakes when there is room', async () => {
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  let waits = 0;
  const unstored = new UnstoredBytes(1000, () => {
    waits += 1;
  });
  const bounds = { chunkBytes: 1000, heldBytes: 1000, unstoredRunBytes: 500 };
  const [one, other] = [newLog(bounds, 1, unstored), newLog(bounds, 1, unstored)];
  const calls: string[] = [];
  one.append(delta('x'.repeat(483)));
  assert.deepEqual([one.unstoredBytes, one.isFull], [499, false]);
  one.append(delta('x'));
  assert.deepEqual([one.isFull, other.isFull, waits], [true, false, 0]);
  one.onceRoom(() => calls.push('one'));
  one.onceRoom(() => calls.push('one again'));
  const first = one.takeChunks();
  other.append(delta('y'.repeat(484)));
  other.onceRoom(() => calls.push('other'));
  assert.deepEqual([unstored.bytes, unstored.isFull, waits], [1016, true, 3]);
  unstored.wake();
  await turn();
  assert.equal(calls.length, 0, 'there is no room yet');
  one.acknowledge(first.at(-1)?.last_id ?? 0);
  assert.equal(calls.length, 0, 'never in the turn of who stored');
  await turn();
  assert.deepEqual([calls, one.isFull, other.isFull], [['one', 'one again'], false, true]);

  // A released log counts no bytes, and its waiters are forgotten.
  one.append(delta('z'.repeat(900)));
  assert.ok(one.isFull && unstored.isFull);
  one.onceRoom(() => calls.push('never'));
  one.release();
  assert.deepEqual([unstored.bytes, unstored.isFull], [500, false]);
  other.publish(other.prepare([{ type: 'end' }]).events);
  assert.deepEqual([unstored.bytes, other.unstoredBytes], [0, 0], 'what was never unstored counts for nothing');
  await turn();
  assert.deepEqual(calls, ['one', 'one again', 'other']);
});
