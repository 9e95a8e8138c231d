import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cites } from '../../../../requirements/cite.ts';
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

const sizes = (prompt: readonly PromptItem[]) =>
  prompt.map((item) => (item.kind === 'tool_output' && item.output !== LEFT_OUT ? Buffer.byteLength(item.output) : 0));

test('shortens the outputs that the model has not seen evenly', (t) => {
  cites(t, 'contract-31-outputs');
  const window = new RunWindow(0);
  const seen = [output('seen', 4000)];
  assert.deepEqual(sizes(window.fit(seen, '', 5000)), [4000]);
  // With all of them the prompt would have 8 000 tokens.
  const prompt = [...seen, output('a', 1000), output('b', 18_000), output('c', 9000)];
  const shown = window.fit(prompt, '', 5000);
  const [first, a, b = 0, c = 0] = sizes(shown);
  assert.deepEqual([first, a], [0, 1000], 'the output that was seen is left out, and a short one stays whole');
  assert.ok(Math.abs(b - c) < 3 && b > 5300 && b < 5500, `${b} and ${c} bytes`);
  const [, , long] = shown;
  assert.match(
    long?.kind === 'tool_output' ? long.output : '',
    /^o+\n\[The output has 18000 characters\. These are the first \d+, because the conversation became too long for the model\.\]$/,
  );
  // They stay as they are while there is room.
  prompt.push(output('d', 400));
  assert.deepEqual(sizes(window.fit(prompt, '', 5000)), [0, 1000, b, c, 400]);
});

test('leaves out outputs that were not seen only if too little of each would stay', () => {
  const window = new RunWindow(0);
  const prompt = Array.from({ length: 40 }, (_, index) => output(String(index), 2000));
  const shown = sizes(window.fit(prompt, '', 5000));
  const whole = shown.filter((size) => size > 0);
  assert.ok(whole.length > 12 && whole.length < 21, String(shown));
  assert.ok(
    whole.every((size) => size >= 600),
    String(shown),
  );
  assert.ok(shown.slice(0, shown.length - whole.length).every((size) => size === 0));
});
