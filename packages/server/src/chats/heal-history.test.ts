import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { MessageItem, RunItem, ToolCallItem } from '../domain/run/events.ts';
import { type HistoryItem, healTurn, OUTCOME_UNKNOWN, type StoredStep, type StoredTurn } from './heal-history.ts';

const speaker = { agent: 'A', callerAgent: null, outputIndex: 0, complete: true, timestamp: 1 };
const message = (text: string): MessageItem => ({ kind: 'message', id: 'm', text, ...speaker });
const call = (callId: string, text = '{}'): ToolCallItem => ({
  kind: 'tool_call',
  id: 'f',
  callId,
  name: 't',
  text,
  ...speaker,
});
const output = (callId: string, text: string): RunItem => ({
  kind: 'tool_output',
  agent: 'A',
  callerAgent: null,
  callId,
  text,
  timestamp: 1,
});
const model = (...items: RunItem[]): StoredStep => ({ kind: 'model', callerAgent: null, output: items });
const tool = (callId: string, text: string): StoredStep => ({
  kind: 'tool',
  callerAgent: null,
  output: [output(callId, text)],
});

/** Returns why OpenAI would refuse the prompt, or null. */
function refusedBy(items: readonly HistoryItem[]): string | null {
  const open = new Set<string>();
  const known = new Set<string>();
  for (const item of items) {
    if (item.kind === 'tool_call') {
      if (item.callId === '' || known.has(item.callId)) return `a second call ${item.callId}`;
      if (typeof JSON.parse(item.arguments) !== 'object') return `arguments ${item.arguments}`;
      known.add(item.callId);
      open.add(item.callId);
    } else if (item.kind === 'tool_output') {
      if (!open.delete(item.callId)) return `an output without its call ${item.callId}`;
    } else {
      if (open.size > 0) return `calls without outputs before the next message: ${[...open].join()}`;
      if (item.kind === 'assistant' && item.text.trim() === '') return 'an assistant message is blank';
    }
  }
  return open.size > 0 ? `calls without outputs: ${[...open].join()}` : null;
}

test('keeps a completed turn: texts, calls, and outputs in the order of calls', () => {
  const turn: StoredTurn = {
    message: 'Hi',
    answer: 'Looking. Done.',
    steps: [
      model(message('Looking. '), call('a'), call('b', '{"x":1}')),
      tool('b', 'two'),
      tool('a', 'one'),
      model(message('Done.')),
    ],
  };
  assert.deepEqual(healTurn(turn), [
    { kind: 'user', text: 'Hi' },
    { kind: 'assistant', text: 'Looking. ' },
    { kind: 'tool_call', callId: 'a', name: 't', arguments: '{}' },
    { kind: 'tool_call', callId: 'b', name: 't', arguments: '{"x":1}' },
    { kind: 'tool_output', callId: 'a', output: 'one' },
    { kind: 'tool_output', callId: 'b', output: 'two' },
    { kind: 'assistant', text: 'Done.' },
  ]);
});

test('a call that asked and was not made has a sentence of its own', () => {
  const asking: StoredStep = { ...model(call('a'), call('b')), asks: { a: 'approval', b: 'approval' } };
  const begun: StoredStep = { kind: 'begin', callerAgent: null, callId: 'b', output: [] };
  assert.deepEqual(healTurn({ message: 'Hi', answer: '', steps: [asking, begun] }).slice(3), [
    { kind: 'tool_output', callId: 'a', output: 'The run ended before the call' },
    { kind: 'tool_output', callId: 'b', output: OUTCOME_UNKNOWN },
  ]);
});

test('answers a call without an outcome, and keeps the text of a cut step', () => {
  const cut: StoredTurn = {
    message: 'Hi',
    answer: 'Looking. And th',
    steps: [model(message('Looking. '), call('a'), call('b')), tool('a', 'one')],
  };
  assert.deepEqual(healTurn(cut).slice(2), [
    { kind: 'tool_call', callId: 'a', name: 't', arguments: '{}' },
    { kind: 'tool_call', callId: 'b', name: 't', arguments: '{}' },
    { kind: 'tool_output', callId: 'a', output: 'one' },
    { kind: 'tool_output', callId: 'b', output: OUTCOME_UNKNOWN },
    { kind: 'assistant', text: 'And th' },
  ]);
  assert.deepEqual(healTurn({ message: '', answer: '', steps: [] }), [{ kind: 'user', text: '' }]);
  assert.deepEqual(healTurn({ message: '?', answer: 'Only text', steps: [] }).at(-1), {
    kind: 'assistant',
    text: 'Only text',
  });
});

test('announces files however the turn ended', () => {
  const sandboxFiles = [{ name: 'a.txt', path: '/app/mnt/a.txt' }];
  const turn = { message: 'Hi', steps: [], answer: '' };
  assert.deepEqual(healTurn({ ...turn, sandboxFiles }), [{ kind: 'user', text: 'Hi', sandboxFiles }]);
  assert.deepEqual(healTurn({ ...turn, sandboxFiles: [], attachments: [] }), [{ kind: 'user', text: 'Hi' }]);
});

const ids = fc.constantFrom('', 'a', 'b', 'c', 'a_2');
const texts = fc.constantFrom('', ' ', 'x', 'text', '{', '[1]', '{"a":1}', 'null');
const items = fc.oneof(
  texts.map(message),
  fc.tuple(ids, texts).map(([id, text]) => call(id, text)),
  fc.tuple(ids, texts).map(([id, text]) => output(id, text)),
);
const steps = fc.record({
  kind: fc.constantFrom('model' as const, 'tool' as const),
  callerAgent: fc.constantFrom(null, null, 'B'),
  output: fc.array(items, { maxLength: 5 }),
});
const turns = fc.record({ message: texts, answer: texts, steps: fc.array(steps, { maxLength: 6 }) });

test('makes a prompt that OpenAI accepts, whatever is stored', () => {
  fc.assert(
    fc.property(fc.array(turns, { maxLength: 4 }), (chat) => {
      const callIds = new Set<string>();
      const prompt = chat.flatMap((turn) => healTurn(turn, callIds));
      assert.equal(refusedBy([...prompt, { kind: 'user', text: 'next' }]), null);
      assert.equal(prompt.filter((item) => item.kind === 'user').length, chat.length);
    }),
    { numRuns: 5000 },
  );
});

test('keeps every finished step, and does not change earlier turns', () => {
  const whole = fc.array(
    fc.record({ text: fc.constantFrom('', 'one ', 'two '), calls: fc.integer({ min: 1, max: 3 }) }),
    { minLength: 1, maxLength: 3 },
  );
  fc.assert(
    fc.property(whole, fc.nat(12), fc.constantFrom('', 'cut'), turns, (plan, finished, cut, before) => {
      const all: StoredStep[] = plan.flatMap(({ text, calls }, index) => {
        const made = Array.from({ length: calls }, (_, n) => `${index}-${n}`);
        return [model(message(text), ...made.map((id) => call(id))), ...made.map((id) => tool(id, `out ${id}`))];
      });
      const done = all.slice(0, finished);
      const text = done
        .flatMap((step) => step.output.map((item) => (item.kind === 'message' ? item.text : '')))
        .join('');
      const callIds = new Set<string>();
      const earlier = healTurn(before, callIds);
      const healed = healTurn({ message: 'Go', answer: text + cut, steps: done }, callIds);
      assert.equal(refusedBy([...earlier, ...healed]), null);
      const shown = healed.map((item) => (item.kind === 'assistant' ? item.text : '')).join('');
      assert.equal(shown, text + cut);
      for (const step of done.filter(({ kind }) => kind === 'tool')) {
        const text = (step.output[0] as { text: string }).text;
        assert.equal(healed.filter((item) => item.kind === 'tool_output' && item.output === text).length, 1);
      }
      assert.deepEqual(healTurn(before, new Set()), earlier);
    }),
    { numRuns: 3000 },
  );
});
