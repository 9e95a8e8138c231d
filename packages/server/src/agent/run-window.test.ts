import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PromptItem } from './ports.ts';
import { LEFT_OUT, RunWindow } from './run-window.ts';

const output = (callId: string, size: number): PromptItem => ({
  kind: 'tool_output',
  callId,
  output: 'o'.repeat(size),
});
const listShown = (prompt: readonly PromptItem[]) =>
  prompt.map((item) =>
    item.kind === 'tool_output' ? (item.output === LEFT_OUT ? 'left out' : item.callId) : item.kind,
  );

test('leaves out the oldest outputs of the loop above four fifths of the window', () => {
  const history: PromptItem[] = [{ kind: 'user', text: 'Hi' }, output('earlier', 4000)];
  const window = new RunWindow(history.length);
  const prompt = [...history];
  const shown: string[][] = [];
  for (const callId of ['a', 'b', 'c', 'd']) {
    prompt.push(output(callId, 4000));
    // Each output has 1 000 tokens.
    shown.push(listShown(window.fit(prompt, '', 5000)));
  }
  assert.deepEqual(shown, [
    ['user', 'earlier', 'a'],
    ['user', 'earlier', 'a', 'b'],
    ['user', 'earlier', 'left out', 'left out', 'c'],
    ['user', 'earlier', 'left out', 'left out', 'c', 'd'],
  ]);
});

test('a node that takes over leaves out the same outputs', () => {
  const sizes = [3000, 100, 9000, 40, 5000, 7000, 20, 8000];
  const walk = () => {
    const window = new RunWindow(0);
    const prompt: PromptItem[] = [];
    return sizes.map((size, index) => {
      prompt.push(output(String(index), size));
      return listShown(window.fit(prompt, 'i'.repeat(400), 4000)).join();
    });
  };
  assert.deepEqual(walk(), walk());
  assert.match(walk().at(-1) ?? '', /left out/);
});
