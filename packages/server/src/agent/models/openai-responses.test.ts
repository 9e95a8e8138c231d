import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Listener, modelRequest } from '@runwire/test-kit/model-conformance.ts';
import { providerSettingNames } from '../../domain/providers.ts';
import type { PromptItem } from '../ports.ts';
import { ResponsesReader, responsesBody } from './openai-responses.ts';
import { BodyPrefixes } from './request-body.ts';

test('passes on each concurrent part once, by deltas or at its end', () => {
  const output = new Listener();
  const reader = new ResponsesReader({ model: 'm', apiKey: null, settings: providerSettingNames('openai') }, output);
  const tell = (event: object) => reader.event(JSON.stringify(event));
  const [one, other, last] = [0, 1, 2].map((output_index) => ({ output_index, content_index: 0 }));
  tell({ type: 'response.output_text.delta', ...one, delta: 'A' });
  tell({ type: 'response.refusal.delta', ...other, delta: 'B' });
  tell({ type: 'response.output_text.done', ...one, text: 'A' });
  tell({ type: 'response.refusal.done', ...other, refusal: 'B' });
  tell({ type: 'response.output_text.done', ...last, text: 'C' });
  assert.equal(output.all('text'), 'ABC');
});

test('items of earlier turns are written once, and give the same bytes', () => {
  const prefixes = new BodyPrefixes();
  const request = (prompt: readonly PromptItem[]) =>
    responsesBody('m', modelRequest('', { prompt }), prefixes).toString();
  const earlier: readonly PromptItem[] = [
    { kind: 'user', text: 'Größe? "1"' },
    { kind: 'tool_call', callId: 'c', name: 'echo', arguments: '{"a":1}' },
    { kind: 'tool_output', callId: 'c', output: '😀' },
    { kind: 'assistant', text: 'Yes.' },
  ];
  const next = (text: string): PromptItem[] => [...earlier, { kind: 'user', text }];
  const first = request(next('One?'));
  // Copies of the items were never written before.
  assert.equal(first, request(structuredClone(next('One?'))));
  assert.equal(request(next('Two?')), first.replace('One?', 'Two?'));
  const changed = earlier.map((item) => (item.kind === 'tool_output' ? { ...item, output: 'left out' } : item));
  assert.deepEqual(JSON.parse(request(changed)).input[2].output, 'left out');
  assert.deepEqual(JSON.parse(request([])).input, []);
});
