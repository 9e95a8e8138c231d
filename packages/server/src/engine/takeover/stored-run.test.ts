import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modelWindow } from '../../domain/model/model-window.ts';
import type { MessageItem, RunEvent, ToolOutputItem } from '../../domain/run/events.ts';
import type { StepRow } from '../../store/queries/runs.ts';
import type { UnfinishedRun } from '../../store/queries/takeover.ts';
import type { Tx } from '../../store/store.ts';
import { lastKeptId, promptParts, spentSoFar } from './stored-run.ts';

const response = { id: 'resp_1', model: 'own/model', agent: 'A', callerAgent: null };
const item: MessageItem = {
  kind: 'message',
  id: 'msg_1',
  agent: 'A',
  callerAgent: null,
  outputIndex: 0,
  text: '',
  complete: false,
  timestamp: 1,
};
const output: ToolOutputItem = {
  kind: 'tool_output',
  agent: 'A',
  callerAgent: null,
  callId: 'call_1',
  text: 'o'.repeat(8),
  timestamp: 2,
};
const finished = { requestCount: 1, inputTokens: 100, cachedTokens: 0, outputTokens: 20, reasoningTokens: 0 };
const run = {
  attempt: 1,
  request_count: 1,
  input_tokens: 100,
  cached_tokens: 0,
  output_tokens: 20,
  reasoning_tokens: 0,
  by_model_json: JSON.stringify([{ model: 'own/model', ...finished, credits: 0 }]),
  text_bytes: 40,
  attached_bytes: 0,
  announced_bytes: 0,
} as UnfinishedRun;

const PARTS = {
  instructions: '',
  message: 'm'.repeat(8),
  shown: 'm'.repeat(8),
  windowOf: (model: string) => modelWindow(model, 1000),
};

/** A finished step with a tool's output up to id 5, then a second response that is under way. */
const JOURNAL = [{ kind: 'model' as const, loop: '', callId: null, lastEventId: 4 }];
const events: readonly RunEvent[] = [
  { type: 'response_created', response, id: 2 },
  { type: 'run_item', name: 'tool_output', item: output, id: 5 },
  { type: 'response_created', response, id: 6 },
  { type: 'item_added', item, id: 7 },
  { type: 'delta', item, text: 'größer', id: 9 },
];

test('keeps events up to the last journalled step, or the first of the attempt', () => {
  const row = (id: number) => ({ last_event_id: id }) as StepRow;
  assert.equal(lastKeptId(1, []), 1);
  assert.equal(lastKeptId(1, [row(17), row(12)]), 17);
  assert.equal(lastKeptId(3, [row(17)]), 2_000_000_001, 'no step of the attempt that died was finished');
  assert.equal(lastKeptId(2, [row(17), row(1_000_000_030)]), 1_000_000_030);
});

test('estimates a call that was cut short from its prompt and output', () => {
  const { usage, byModel } = spentSoFar(run, { ...PARTS, instructions: 'i'.repeat(12) }, events, JOURNAL);
  // 12 bytes of instructions, 40 of the chat, 8 of the tool's output; and 8 of the text.
  const expected = { requestCount: 2, inputTokens: 115, cachedTokens: 0, outputTokens: 22, reasoningTokens: 0 };
  assert.deepEqual(usage, expected);
  assert.deepEqual(byModel, [{ model: 'own/model', ...expected, credits: 0 }]);
});

test('counts the announced files of this message and of earlier ones', () => {
  const own = { ...PARTS, shown: 'm'.repeat(48) };
  // 40 bytes more of this message, and 80 of earlier ones.
  const { inputTokens } = spentSoFar(run, PARTS, events, JOURNAL).usage;
  assert.equal(spentSoFar({ ...run, announced_bytes: 80 }, own, events, JOURNAL).usage.inputTokens, inputTokens + 30);
});

test('counts the reported usage of a whole response, and nothing without a call', () => {
  const whole: RunEvent = { type: 'response_done', response, output: [item], usage: finished, id: 12 };
  const { usage } = spentSoFar(run, PARTS, [...events, whole], JOURNAL);
  assert.deepEqual([usage.requestCount, usage.inputTokens, usage.outputTokens], [2, 200, 40]);
  assert.deepEqual(spentSoFar(run, PARTS, events.slice(0, 2), JOURNAL).usage, finished);
});

test('counts a failed call of a delegated agent until the outcome of its loop is stored', () => {
  const delegated = { ...response, callerAgent: 'A', loop: 'call_2' };
  const stored: readonly RunEvent[] = [
    { type: 'response_created', response, id: 2 },
    { type: 'response_created', response: delegated, id: 5 },
    { type: 'response_created', response: delegated, id: 6 },
    { type: 'run_item', name: 'tool_output', item: { ...output, callId: 'call_2' }, id: 7 },
  ];
  const requests = (journal: Parameters<typeof spentSoFar>[3]) =>
    spentSoFar(run, PARTS, stored, journal).usage.requestCount;
  assert.equal(requests(JOURNAL), 3, 'a call and its fallback are under way');
  const outcome = { kind: 'tool' as const, loop: '', callId: 'call_2', lastEventId: 7 };
  assert.equal(requests([...JOURNAL, outcome]), 1);
  const other = { kind: 'model' as const, loop: 'call_3', callId: null, lastEventId: 9 };
  assert.equal(requests([...JOURNAL, other]), 3, 'a step of another loop covers neither');
});

test('counts only the turns that fit into every window that hand-offs reach', async () => {
  const agent = (name: string, model: string, to: readonly string[]) => ({
    name,
    model,
    fallback: [],
    ownModels: new Map(),
    flows: to.map((recipient) => ({ to: recipient, kind: 'handoff', memory: 'chat' })),
    fixedInstructions: () => '',
  });
  const agents = [agent('A', 'own/model', ['B']), agent('B', 'own/small', [])];
  const loaded = { agents: new Map(agents.map((one) => [one.name, one])) };
  const deps = {
    agencies: { find: () => ({ loaded }), modelOf: (_: unknown, { model }: { readonly model: string }) => model },
    models: () => (id: string) => ({ id, windowTokens: id === 'own/small' ? 400 : 1000 }),
    prompt: { windowTokens: 1000 },
  } as unknown as Parameters<typeof promptParts>[1];
  const parts = await promptParts({} as Tx, deps, { ...run, agent: 'A' }, PARTS.message, []);
  const long = { ...run, text_bytes: 20_000_008 };
  assert.equal(spentSoFar(long, parts, events, JOURNAL).usage.inputTokens, 100 + 200 + 4);
});

test('counts only the turns that fit into the window of the model', () => {
  const long = { ...run, text_bytes: 20_000_008 };
  // Half of the window for the earlier turns; 2 tokens of the message, 2 of the tool's output.
  assert.equal(spentSoFar(long, PARTS, events, JOURNAL).usage.inputTokens, 100 + 500 + 4);
  const images = { ...run, attached_bytes: 4_000_000 };
  assert.equal(spentSoFar(images, PARTS, events, JOURNAL).usage.inputTokens, 100 + 500 + 4);
  const known = events.map((event) =>
    event.type === 'response_created' ? { ...event, response: { ...response, model: 'openai/gpt-4o' } } : event,
  );
  assert.equal(spentSoFar(long, PARTS, known, JOURNAL).usage.inputTokens, 100 + 64_000 + 4);
});
