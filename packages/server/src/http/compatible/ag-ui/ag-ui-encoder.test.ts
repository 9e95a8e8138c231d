import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cites } from '../../../../../../requirements/cite.ts';
import { NO_USAGE } from '../../../domain/model/usage.ts';
import type { MessageItem, RunEvent, ToolCallItem } from '../../../domain/run/events.ts';
import { AgUiEncoder } from './ag-ui-encoder.ts';

const usage = { ...NO_USAGE, requestCount: 1, inputTokens: 10, outputTokens: 5 };

const message = (id: string, text: string, loop?: string): MessageItem => ({
  kind: 'message',
  id,
  agent: loop === undefined ? 'Lead' : 'Billing',
  callerAgent: loop === undefined ? null : 'Lead',
  ...(loop === undefined ? {} : { loop }),
  outputIndex: 0,
  text,
  complete: true,
  timestamp: 1,
});

const delegation: ToolCallItem = {
  ...message('fc_1', '{"message":"Do"}'),
  kind: 'tool_call',
  callId: 'd1',
  name: 'send_message',
};

const meta: RunEvent = {
  type: 'meta',
  id: 1,
  meta: {
    runId: 'run_1',
    chatId: 'c1',
    aliasChatId: null,
    usageRequestId: 'r1',
    consumerId: null,
    agent: 'Lead',
    createdAt: 0,
  },
};

const resumed = (discardAfter: number, voidItems?: readonly string[]): RunEvent => {
  const event = { type: 'resumed', runId: 'run_1', attempt: 2, discardAfter, id: 1_000_000_001 } as const;
  return voidItems === undefined ? event : { ...event, voidItems };
};

const ended = (total = usage): RunEvent => ({
  type: 'messages',
  id: 1_000_000_100,
  runId: 'run_1',
  chatId: 'c1',
  status: 'completed',
  items: [],
  usage: total,
  error: null,
});

const encoder = (isReplay = false) =>
  new AgUiEncoder({ threadId: 't1', runId: 'r1', isReplay, settled: new Map(), sentOutputs: new Set() });

function read(framing: AgUiEncoder, events: readonly RunEvent[]) {
  const { data, breaksOff } = framing.page(events, 0, 0, 1_000_000);
  const frames = String(data).split('\n\n').filter(Boolean);
  const sent = frames.map((frame) => JSON.parse(frame.slice('data: '.length)) as Record<string, unknown>);
  return { sent, types: sent.map(({ type }) => type), breaksOff };
}

test('breaks off at `resumed` only if text that was sent is void', (t) => {
  cites(t, 'compatible-20-ag-ui-void');
  const old = message('msg_1', 'Hel');
  const begun: RunEvent[] = [
    meta,
    { type: 'item_added', item: old, id: 2 },
    { type: 'delta', item: old, text: 'Hel', id: 4 },
  ];
  assert.equal(read(encoder(), [...begun, resumed(1)]).breaksOff, true);
  const kept = read(encoder(), [meta, resumed(1), ended()]);
  assert.deepEqual([kept.breaksOff, kept.types], [false, ['RUN_STARTED', 'RUN_FINISHED']]);
});

test('an item of a delegated agent that was never finished breaks a stream, and is not in a replay', (t) => {
  cites(t, 'compatible-20-ag-ui-void');
  const lost = message('msg_1', 'So', 'd1');
  const again = message('msg_2', 'Sure.', 'd1');
  const output = { ...message('', 'Sure.'), kind: 'tool_output', callId: 'd1' } as const;
  const events: RunEvent[] = [
    meta,
    { type: 'item_done', item: delegation, id: 2 },
    { type: 'item_added', item: lost, id: 4 },
    { type: 'delta', item: lost, text: 'So', id: 6 },
    { type: 'run_item', name: 'tool_output', item: { ...output, callId: 'other' }, id: 7 },
    resumed(7, ['msg_1']),
    { type: 'item_added', item: again, id: 1_000_000_002 },
    { type: 'delta', item: again, text: 'Sure.', id: 1_000_000_004 },
    { type: 'item_done', item: again, id: 1_000_000_005 },
    { type: 'run_item', name: 'tool_output', item: output, id: 1_000_000_008 },
    ended(),
  ];
  const live = read(encoder(), events);
  assert.equal(live.breaksOff, true);
  assert.equal(live.types.at(-1), 'TOOL_CALL_RESULT');
  const { breaksOff, sent } = read(encoder(true), events);
  assert.equal(breaksOff, false);
  assert.deepEqual(
    sent.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT').map(({ delta }) => delta),
    ['Sure.'],
  );
  assert.equal(sent.filter(({ type }) => type === 'SUBAGENT_STARTED').length, 1);
});

test('usage that no answer of a model reported has no model', () => {
  const response = { agent: 'Lead', callerAgent: null, id: 'resp_1', model: 'm' };
  const answered: RunEvent = { type: 'response_done', response, output: [], usage, id: 2 };
  const { sent } = read(encoder(), [meta, answered, ended({ ...usage, inputTokens: 13 })]);
  const none = { outputTokens: 0, reasoningTokens: 0, cachedInputTokens: 0 };
  assert.deepEqual(sent.at(-1)?.usage, [
    { ...none, model: 'm', inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    { ...none, inputTokens: 3, totalTokens: 3 },
  ]);
  const discarded = read(encoder(), [meta, answered, resumed(1), ended()]);
  assert.deepEqual(discarded.sent.at(-1)?.usage, [
    { inputTokens: 10, outputTokens: 5, totalTokens: 15, reasoningTokens: 0, cachedInputTokens: 0 },
  ]);
});
