import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Listener } from '@runwire/test-kit/model-conformance.ts';
import { providerSettingNames } from '../../domain/providers.ts';
import { ResponsesReader } from './openai-responses.ts';

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
