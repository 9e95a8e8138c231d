import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ToolOutputItem } from '../domain/run/events.ts';
import type { Step } from '../domain/run/step.ts';
import { FinishedSteps } from './finished-steps.ts';

const output = (callId: string, timestamp: number): ToolOutputItem => ({
  kind: 'tool_output',
  agent: 'Lead',
  callerAgent: null,
  callId,
  text: `answer of ${callId}`,
  timestamp,
});

const asked = (callId: string, timestamp: number, status: Step['status'] = 'completed'): Step => ({
  step: timestamp,
  kind: 'tool',
  loop: '',
  indexInLoop: 0,
  agent: 'Lead',
  callerAgent: null,
  model: null,
  tool: 'send_message',
  callId,
  status,
  usage: null,
  output: [output(callId, timestamp)],
  asked: { agent: 'Facts', message: callId },
  startedAt: 0,
  completedAt: 0,
});

test('a recipient sees the exchanges that were complete when it was asked', () => {
  const finished = new FinishedSteps([asked('c1', 10), asked('c2', 20, 'failed'), asked('c3', 30)], false);
  const seen = (calledAt: number, recipient = 'Facts') =>
    finished.exchanges('Lead', recipient, calledAt).map(({ message, answer }) => `${message}: ${answer}`);
  assert.deepEqual(seen(5), []);
  assert.deepEqual(seen(25), ['c1: answer of c1'], 'a later attempt sees what the first one saw');
  assert.deepEqual(seen(40), ['c1: answer of c1', 'c3: answer of c3']);
  assert.deepEqual(seen(40, 'Research'), []);
  finished.addExchange('Lead', { agent: 'Facts', message: 'c4' }, output('c4', 50));
  assert.deepEqual(seen(60).at(-1), 'c4: answer of c4');
});
