import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  attemptBase,
  eventWidth,
  lastFrameId,
  type OutputItem,
  type RunEvent,
  type RunEventBody,
  type RunItem,
} from '../domain/run/events.ts';
import { decodeChunk, encodeChunk, encodeCompactedChunk } from './chunk-codec.ts';
import { compactEvents } from './compact-events.ts';
import { encodeWithin } from './run-log.ts';

const usage = { requestCount: 1, inputTokens: 2, cachedTokens: 0, outputTokens: 3, reasoningTokens: 0 };

interface ItemPlan {
  readonly kind: OutputItem['kind'];
  readonly callerAgent: string | null;
  readonly texts: readonly string[];
}

interface RunPlan {
  readonly responses: readonly (readonly ItemPlan[])[];
  /** After how many events the first attempt died; a takeover wrote the rest. */
  readonly cutAfter: number | null;
  /** How many events of the first attempt are discarded but still stored. */
  readonly voidEvents: number;
  readonly failed: boolean;
}

const plans: fc.Arbitrary<RunPlan> = fc.record({
  responses: fc.array(
    fc.array(
      fc.record({
        kind: fc.constantFrom('message' as const, 'reasoning' as const, 'tool_call' as const),
        callerAgent: fc.constantFrom(null, 'Boss'),
        texts: fc.array(fc.string({ unit: 'binary', maxLength: 6 }), { maxLength: 6 }),
      }),
      { maxLength: 3 },
    ),
    { maxLength: 3 },
  ),
  cutAfter: fc.option(fc.nat(30)),
  voidEvents: fc.nat(4),
  failed: fc.boolean(),
});

/** A response's events, in the order in which `ResponseAssembly` emits them. */
function responseEvents(plan: readonly ItemPlan[], prefix: string): { bodies: RunEventBody[]; items: OutputItem[] } {
  const response = { id: `resp_${prefix}`, model: 'm', agent: 'A', callerAgent: null };
  const bodies: RunEventBody[] = [{ type: 'response_created', response }];
  const items = plan.map(({ kind, callerAgent, texts }, outputIndex): OutputItem => {
    const shared = {
      id: `${prefix}_${outputIndex}`,
      agent: 'A',
      callerAgent,
      outputIndex,
      complete: true,
      timestamp: 1,
    };
    const text = texts.join('');
    const item: OutputItem =
      kind === 'tool_call' ? { kind, ...shared, text, callId: shared.id, name: 'echo' } : { kind, ...shared, text };
    bodies.push({ type: 'item_added', item });
    for (const piece of texts) bodies.push({ type: 'delta', item, text: piece });
    bodies.push({ type: 'item_done', item });
    return item;
  });
  bodies.push({ type: 'response_done', response, output: items, usage });
  for (const item of items) bodies.push({ type: 'run_item', name: 'message_output_created', item });
  return { bodies, items };
}

function numbered(first: number, bodies: readonly RunEventBody[]): RunEvent[] {
  let id = first;
  return bodies.map((body) => {
    const event = { ...body, id } as RunEvent;
    id += eventWidth(body);
    return event;
  });
}

function getRun(plan: RunPlan): RunEvent[] {
  const meta = { runId: 'r', chatId: 'c', aliasChatId: null, usageRequestId: null, consumerId: null, agent: 'A' };
  const bodies: RunEventBody[] = [{ type: 'meta', meta: { ...meta, createdAt: 1 } }];
  const items: RunItem[] = [];
  for (const [index, planned] of plan.responses.entries()) {
    const made = responseEvents(planned, `i${index}`);
    bodies.push(...made.bodies);
    items.push(...made.items);
  }
  const error = plan.failed ? ({ code: 'model_error', message: 'no' } as const) : null;
  const status = plan.failed ? ('failed' as const) : ('completed' as const);
  const end: RunEventBody[] = [
    ...(error === null ? [] : [{ type: 'error' as const, runId: 'r', error }]),
    { type: 'messages', runId: 'r', chatId: 'c', status, items, usage, error },
    { type: 'end' },
  ];
  if (plan.cutAfter === null) return numbered(1, [...bodies, ...end]);
  const before = numbered(1, bodies).slice(0, plan.cutAfter + 1);
  const lastCounted = before[Math.max(0, before.length - 1 - plan.voidEvents)] as RunEvent;
  const resumed = { type: 'resumed' as const, runId: 'r', attempt: 2, discardAfter: lastFrameId(lastCounted) };
  return [...before, ...numbered(attemptBase(2) + 1, [resumed, ...responseEvents([], 'again').bodies, ...end])];
}

/** The answer that a reader builds: the deltas whose `callerAgent` is null and that no `resumed` discards. */
function answer(events: readonly RunEvent[]): string {
  let counted = [...events];
  for (const event of events) {
    if (event.type !== 'resumed') continue;
    counted = counted.filter(({ id }) => id <= event.discardAfter || id >= event.id);
  }
  let text = '';
  for (const event of counted) {
    if (event.type === 'delta' && event.item.kind === 'message' && event.item.callerAgent === null) text += event.text;
  }
  return text;
}

const check = (holds: (before: readonly RunEvent[], after: readonly RunEvent[], plan: RunPlan) => void) =>
  fc.assert(
    fc.property(plans, (plan) => {
      const events = getRun(plan);
      holds(events, compactEvents(events), plan);
    }),
    { numRuns: 500 },
  );

test('keeps the answer of the run', () => {
  check((before, after) => assert.equal(answer(after), answer(before)));
});

test('keeps one frame per event, in order, with an id of a frame of its kind', () => {
  check((before, after) => {
    const kinds = new Map(before.map((event) => [event.id, event.type]));
    let last = 0;
    for (const event of after) {
      assert.equal(eventWidth(event), 1);
      assert.equal(kinds.get(event.id), event.type);
      assert.ok(event.id > last);
      last = event.id;
    }
    assert.equal(last, before.at(-1)?.id);
  });
});

test('keeps one delta per content part, with the id of its last delta', () => {
  check((before, after) => {
    const resumed = before.find((event) => event.type === 'resumed');
    const counts = ({ id }: RunEvent) => resumed === undefined || id <= resumed.discardAfter || id >= resumed.id;
    const lastDeltas = new Map<string, number>();
    for (const event of before) if (event.type === 'delta' && counts(event)) lastDeltas.set(event.item.id, event.id);
    const deltas = after.flatMap((event) => (event.type === 'delta' ? [[event.item.id, event.id] as const] : []));
    assert.deepEqual(new Map(deltas), lastDeltas);
    assert.equal(deltas.length, lastDeltas.size);
    const whole = new Set<RunEvent['type']>(['meta', 'resumed', 'run_item', 'error', 'messages', 'end']);
    assert.deepEqual(
      after.filter(({ type }) => type !== 'delta'),
      before.filter((event) => whole.has(event.type) && counts(event)),
    );
  });
});

test('is idempotent, also after storing and reading', () => {
  check((_, after) => {
    assert.deepEqual(compactEvents(after), after);
    for (const maxBytes of [1, 400, 1_000_000]) {
      const chunks = encodeWithin(after, maxBytes, encodeCompactedChunk);
      const back = chunks.flatMap(({ first_id, data }) => {
        const { events, compacted } = decodeChunk(first_id, data);
        assert.ok(compacted, 'even if its ids have no gap');
        return events;
      });
      // The item of a delta has its text only if another event of the chunk has it.
      const comparable = (event: RunEvent) => (event.type === 'delta' ? { ...event, item: event.item.id } : event);
      assert.deepEqual(back.map(comparable), after.map(comparable));
    }
  });
});

test('joins deltas of several chunks by the id of their item', () => {
  const plan = { kind: 'message' as const, callerAgent: null, texts: ['One ', 'two ', 'three.'] };
  const events = numbered(1, responseEvents([plan], 'i').bodies);
  const decoded = encodeWithin(events, 1).flatMap(({ first_id, data }) => decodeChunk(first_id, data).events);
  const deltas = compactEvents(decoded).filter((event) => event.type === 'delta');
  assert.deepEqual(
    deltas.map(({ id, text }) => [id, text]),
    [[6, 'One two three.']],
  );
  assert.equal(decodeChunk(1, encodeChunk(events)).compacted, false);
});

test('keeps the last progress of each tool call, without that of void attempts', () => {
  const report = (callId: string, text: string): RunEventBody => ({
    type: 'tool_progress',
    agent: 'A',
    callerAgent: null,
    callId,
    text,
  });
  const failed: RunEventBody = {
    type: 'mcp_server_failed',
    agency: 'a',
    server: 's',
    error: 'Gone.',
    agent: 'A',
    callerAgent: null,
  };
  assert.deepEqual(compactEvents(decodeChunk(1, encodeChunk(numbered(1, [failed]))).events), [{ ...failed, id: 1 }]);
  const before = numbered(1, [report('a', 'one'), report('b', 'one'), report('a', 'two'), report('b', 'void')]);
  const resumed = { type: 'resumed' as const, runId: 'r', attempt: 2, discardAfter: 3 };
  const after = numbered(attemptBase(2) + 1, [resumed, report('c', 'one')]);
  const kept = compactEvents([...before, ...after]);
  assert.deepEqual(
    kept.map((event) => (event.type === 'tool_progress' ? [event.id, event.callId, event.text] : event.type)),
    [[2, 'b', 'one'], [3, 'a', 'two'], 'resumed', [attemptBase(2) + 2, 'c', 'one']],
  );
});

test('keeps nothing of void items', () => {
  const plan = { kind: 'message' as const, callerAgent: 'A', texts: ['One ', 'two '] };
  const before = numbered(1, responseEvents([plan, { ...plan, texts: ['Three.'] }], 'i').bodies);
  const [first, second] = before.flatMap((event) => (event.type === 'item_added' ? [event.item.id] : []));
  const discardAfter = lastFrameId(before.at(-1) as RunEvent);
  const body = { type: 'resumed' as const, runId: 'r', attempt: 2, discardAfter, voidItems: [first ?? ''] };
  const items = compactEvents([...before, ...numbered(attemptBase(2) + 1, [body])]).flatMap((event) =>
    'item' in event && 'id' in event.item ? [event.item.id] : [],
  );
  assert.deepEqual([...new Set(items)], [second]);
});
