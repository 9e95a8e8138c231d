import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Listener } from '@runwire/test-kit/model-conformance.ts';
import { providerSettingNames } from '../../domain/providers.ts';
import { ResponsesReader } from './openai-responses.ts';

const target = { model: 'm', apiKey: null, settings: providerSettingNames('openai') };

test('passes on each concurrent part once, by deltas or at its end', () => {
  const output = new Listener();
  const reader = new ResponsesReader(target, output);
  const tell = (event: object) => reader.event(JSON.stringify(event));
  const [one, other, last] = [0, 1, 2].map((output_index) => ({ output_index, content_index: 0 }));
  tell({ type: 'response.output_text.delta', ...one, delta: 'A' });
  tell({ type: 'response.refusal.delta', ...other, delta: 'B' });
  tell({ type: 'response.output_text.done', ...one, text: 'A' });
  tell({ type: 'response.refusal.done', ...other, refusal: 'B' });
  tell({ type: 'response.output_text.done', ...last, text: 'C' });
  assert.equal(output.all('text'), 'ABC');
});

test('events without anything that is used are not parsed', (t) => {
  const output = new Listener();
  const reader = new ResponsesReader(target, output);
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const item = { id: 'msg_1', type: 'message', content: [] };
  reader.event(JSON.stringify({ type: 'response.output_text.delta', ...place, delta: 'A' }));
  const { mock } = t.mock.method(JSON, 'parse');
  const tell = (event: object) => reader.event(JSON.stringify(event));
  tell({ type: 'response.created', sequence_number: 0, response: { instructions: 'Long.' } });
  tell({ type: 'response.in_progress', response: {} });
  tell({ type: 'response.output_item.added', output_index: 0, item });
  tell({ type: 'response.content_part.added', ...place, part: {} });
  tell({ type: 'response.output_text.done', sequence_number: 7, ...place, text: 'A' });
  tell({ type: 'response.content_part.done', ...place, part: { text: 'A' } });
  tell({ type: 'response.output_item.done', sequence_number: 9, output_index: 0, item });
  assert.equal(mock.callCount(), 0);
  // These have something that is used.
  tell({ type: 'response.output_text.done', ...place, content_index: 1, text: 'B' });
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'note', arguments: '{}' };
  tell({ type: 'response.output_item.done', output_index: 1, item: { id: 'fc_1', ...call } });
  assert.deepEqual([mock.callCount(), output.all('text')], [2, 'AB']);
  assert.equal(output.heard.filter(([kind]) => kind === 'call').length, 1);
});
