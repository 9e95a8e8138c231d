import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ToolCallItem } from './events.ts';
import { shownStep } from './shown-step.ts';

const shown = (text: string) => {
  const [call] = shownStep([{ kind: 'tool_call', callId: 'c1', name: 'note', text } as ToolCallItem]);
  return call?.kind === 'tool_call' ? call.arguments : null;
};
const deep = (levels: number) => `{"more":${'['.repeat(levels)}${']'.repeat(levels)}}`;

test('arguments that providers refuse or that are too deep are shown as an empty object', () => {
  assert.equal(shown(deep(499)), deep(499));
  for (const text of ['', '[1]', '{"half":', deep(500), deep(100_000)]) assert.equal(shown(text), '{}');
});
