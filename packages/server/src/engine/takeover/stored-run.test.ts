import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SandboxFile, shownMessage } from '@runwire/models';
import type { MessageItem, RunEvent, ToolOutputItem } from '../../domain/run/events.ts';
import type { StepRow } from '../../store/queries/steps.ts';
import type { UnfinishedRun } from '../../store/queries/takeover.ts';
import type { Tx } from '../../store/store.ts';
import { inputEstimate } from './estimate-input.ts';
import { lastKeptId, spentSoFar } from './stored-run.ts';

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
  user_context_json: null,
  extras_json: null,
  text_bytes: 40,
  attached_bytes: 0,
  announced_bytes: 0,
} as UnfinishedRun;

/** A store that has only the run's message. */
const messageStore = (files: readonly SandboxFile[]) => {
  const row = { content_json: '"mmmmmmmm"', sandbox_files_json: files.length === 0 ? null : JSON.stringify(files) };
  return { all: async () => [row] } as unknown as Tx;
};

interface Installation {
  readonly instructions?: string;
  readonly files?: readonly SandboxFile[];
  /** The window of the model of an agent to which the first agent can hand over. */
  readonly otherWindow?: number;
}

/** What a takeover counts. */
function spent(row: UnfinishedRun, stored: readonly RunEvent[], journal = JOURNAL, given: Installation = {}) {
  const { instructions = '', files = [], otherWindow } = given;
  const agent = (name: string, to: readonly string[]) => ({
    ...{ name, model: `own/${name}`, fallback: [], ownModels: new Map() },
    flows: to.map((recipient) => ({ to: recipient, kind: 'handoff', memory: 'chat' })),
    ...{ usesMember: false, usesState: null, fixedInstructions: () => instructions },
  });
  const agents = otherWindow === undefined ? [] : [agent('B', [])];
  const all = [
    agent(
      'A',
      agents.map(({ name }) => name),
    ),
    ...agents,
  ].map((one) => [one.name, one] as const);
  const deps = {
    agencies: {
      find: () => ({ loaded: { agents: new Map(all) } }),
      getModel: (_: unknown, { model }: { readonly model: string }) => model,
    },
    models: () => (id: string) => (id === 'own/B' ? { id, windowTokens: otherWindow } : null),
    prompt: { windowTokens: 1000 },
  } as unknown as Parameters<typeof inputEstimate>[1];
  return spentSoFar(row, stored, journal, inputEstimate(messageStore(files), deps, { ...row, agent: 'A' }, stored));
}

/** A finished step with a tool's output up to id 5, then a second response that is under way. */
const JOURNAL: Parameters<typeof spentSoFar>[2] = [{ kind: 'model', loop: '', callId: null, lastEventId: 4 }];
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

test('adds up the stored sizes of calls that were cut short', async () => {
  const sized = events.map((event) => (event.type === 'response_created' ? { ...event, inputBytes: 400 } : event));
  const { usage, byModel } = await spentSoFar(run, sized, JOURNAL, () => assert.fail('The size is stored.'));
  // The first call is journalled.
  const expected = { requestCount: 2, inputTokens: 200, cachedTokens: 0, outputTokens: 22, reasoningTokens: 0 };
  assert.deepEqual(usage, expected);
  assert.deepEqual(byModel, [{ model: 'own/model', ...expected, credits: 0 }]);
});

test('estimates the input of a call whose size a node of the version before did not store', async () => {
  const { usage } = await spent(run, events, JOURNAL, { instructions: 'i'.repeat(12) });
  // 12 bytes of instructions, 40 of the chat, 8 of the tool's output; and 8 of the text.
  assert.deepEqual(usage, { ...finished, requestCount: 2, inputTokens: 115, outputTokens: 22 });
  const files = [{ name: 'a.txt', path: '/app/mnt/a.txt' }];
  const shown = Buffer.byteLength(shownMessage('mmmmmmmm', files)) - 8;
  const announced = await spent({ ...run, announced_bytes: 80 }, events, JOURNAL, { files });
  assert.equal(announced.usage.inputTokens, 100 + Math.ceil((48 + shown + 80) / 4));
});

test('counts the reported usage of a whole response, and nothing without a call', async () => {
  const whole: RunEvent = { type: 'response_done', response, output: [item], usage: finished, id: 12 };
  const { usage } = await spent(run, [...events, whole]);
  assert.deepEqual([usage.requestCount, usage.inputTokens, usage.outputTokens], [2, 200, 40]);
  assert.deepEqual((await spent(run, events.slice(0, 2))).usage, finished);
});

test('counts a failed call of a delegated agent until the outcome of its loop is stored', async () => {
  const delegated = { ...response, callerAgent: 'A', loop: 'call_2' };
  const stored: readonly RunEvent[] = [
    { type: 'response_created', response, id: 2 },
    { type: 'response_created', response: delegated, id: 5 },
    { type: 'response_created', response: delegated, id: 6 },
    { type: 'run_item', name: 'tool_output', item: { ...output, callId: 'call_2' }, id: 7 },
  ];
  const requests = async (journal: typeof JOURNAL) => (await spent(run, stored, journal)).usage.requestCount;
  assert.equal(await requests(JOURNAL), 3, 'a call and its fallback are under way');
  const outcome = { kind: 'tool' as const, loop: '', callId: 'call_2', lastEventId: 7 };
  assert.equal(await requests([...JOURNAL, outcome]), 1);
  const other = { kind: 'model' as const, loop: 'call_3', callId: null, lastEventId: 9 };
  assert.equal(await requests([...JOURNAL, other]), 3, 'a step of another loop covers neither');
});

test('estimates only the turns that fit into the window', async () => {
  const long = { ...run, text_bytes: 20_000_008 };
  const inputTokens = async (row: UnfinishedRun, stored = events, given: Installation = {}) =>
    (await spent(row, stored, JOURNAL, given)).usage.inputTokens;
  // Half of the window for the earlier turns; 2 tokens of the message, 2 of the tool's output.
  assert.equal(await inputTokens(long), 100 + 500 + 4);
  assert.equal(await inputTokens({ ...run, attached_bytes: 4_000_000 }), 100 + 500 + 4);
  assert.equal(await inputTokens(long, events, { otherWindow: 400 }), 100 + 200 + 4, 'a hand-off reaches it');
});
