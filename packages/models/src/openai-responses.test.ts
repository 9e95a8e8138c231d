import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResponsesReader, responsesBody } from './openai-responses.ts';
import { providerSettingNames } from './providers.ts';
import { BodyPrefixes } from './request-body.ts';
import { Listener, modelRequest } from './testing/model-conformance.ts';

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
  const position = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const item = { id: 'msg_1', type: 'message', content: [] };
  reader.event(JSON.stringify({ type: 'response.output_text.delta', ...position, delta: 'A' }));
  const { mock } = t.mock.method(JSON, 'parse');
  const tell = (event: object) => reader.event(JSON.stringify(event));
  tell({ type: 'response.created', sequence_number: 0, response: { instructions: 'Long.' } });
  tell({ type: 'response.in_progress', response: {} });
  tell({ type: 'response.output_item.added', output_index: 0, item });
  tell({ type: 'response.content_part.added', ...position, part: {} });
  tell({ type: 'response.output_text.done', sequence_number: 7, ...position, text: 'A' });
  tell({ type: 'response.content_part.done', ...position, part: { text: 'A' } });
  tell({ type: 'response.output_item.done', sequence_number: 9, output_index: 0, item });
  assert.equal(mock.callCount(), 0);
  // These have something that is used.
  tell({ type: 'response.output_text.done', ...position, content_index: 1, text: 'B' });
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'note', arguments: '{}' };
  tell({ type: 'response.output_item.done', output_index: 1, item: call });
  assert.deepEqual([mock.callCount(), output.all('text')], [2, 'AB']);
  assert.equal(output.heard.filter(([kind]) => kind === 'call').length, 1);
});

test('the start of a request is written once for all requests of an agent', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const prefixes = new BodyPrefixes();
  const tool = { name: 'note', description: 'Notes.', inputSchema: { type: 'object' } };
  const settings = { temperature: 0 };
  const fixed = { tools: [tool], settings, webSearch: false };
  const bytes = (more: object) => {
    let written = 0;
    const find = prefixes.find.bind(prefixes);
    const counting = Object.assign(new BodyPrefixes(), {
      find: (...[request, write]: Parameters<BodyPrefixes['find']>) =>
        find(request, () => {
          written += 1;
          return write();
        }),
    });
    const body = responsesBody('m', modelRequest('Hi', { ...fixed, ...more }), counting);
    return [written, JSON.parse(String(body))] as const;
  };
  const input = [{ role: 'user', content: 'Hi' }];
  const parts = { model: 'm', instructions: 'Be brief.', temperature: 0, stream: true, store: false, input };
  const shown = { type: 'function', name: 'note', description: 'Notes.', parameters: tool.inputSchema, strict: false };
  assert.deepEqual(bytes({}), [1, { ...parts, tools: [shown] }]);
  assert.deepEqual(bytes({ prompt: [] }), [0, { ...parts, tools: [shown], input: [] }]);
  // A function may write other instructions in each run, and a reload makes other tools and settings.
  assert.deepEqual(bytes({ instructions: '' })[0], 1);
  assert.deepEqual(bytes({ settings: { ...settings } })[0], 1);
  assert.deepEqual(bytes({ tools: [tool] })[0], 1);
  assert.deepEqual(bytes({})[0], 0);
  // Instructions can contain values of a person, so they do not stay in memory.
  t.mock.timers.tick(600_000);
  assert.deepEqual(bytes({})[0], 1);
});
