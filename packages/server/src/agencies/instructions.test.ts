import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cites } from '../../../../requirements/cite.ts';
import { fillIn, unknownPlaceholder, usesMember, writeFixedInstructions, writeInstructions } from './instructions.ts';

const about = {
  date: '2030-01-02',
  member: { consumerId: 'm1', name: 'Ada', metadata: { plan: 'Pro', tags: ['a', 'b'] } },
  userContext: { name: '{{date}}', age: 5, empty: null, inner: { x: true } },
  state: { cart: ['pen'], name: '{{date}}' },
};

test('inserts values once: text as it is, objects as JSON, missing values as nothing', (t) => {
  cites(t, 'agents-10-placeholders');
  for (const [text, filled] of [
    ['{{date}} {{ member.name }}', '2030-01-02 Ada'],
    ['{{user_context.name}}', '{{date}}'],
    ['{{user_context.age}}|{{user_context.empty}}|{{user_context.none.x}}|', '5|||'],
    ['{{user_context.inner}} {{member.metadata.tags}}', '{"x":true} ["a","b"]'],
    ['{{member.metadata.tags.1}} {{user_context.constructor}}', 'b '],
    ['{{state.cart}} {{state.cart.0}} {{state.name}}{{state.none}}', '["pen"] pen {{date}}'],
    ['{ {date} } {{date', '{ {date} } {{date'],
  ] as const) {
    assert.equal(fillIn(text, about), filled, text);
  }
  assert.equal(fillIn('{{member.name}}{{user_context.x}}', { ...about, member: null, userContext: undefined }), '');
});

test('finds placeholders that do not exist', (t) => {
  cites(t, 'agents-10-unknown-placeholders');
  assert.equal(unknownPlaceholder('{{date}} {{member}} {{user_context}}'), null);
  assert.equal(unknownPlaceholder('a {{ user.name }}')?.written, '{{ user.name }}');
  assert.equal(unknownPlaceholder('{{date.year}}')?.written, '{{date.year}}');
  assert.deepEqual([usesMember('{{member.name}}'), usesMember('{{date}} member')], [true, false]);
});

test('joins shared and own instructions, and the context if the agency wants it', async (t) => {
  cites(t, 'agents-10-shared-instructions');
  const { userContext } = about;
  const context = `user_context:\n${JSON.stringify(userContext)}`;
  const write = writeInstructions({
    shared: 'On {{date}}.',
    own: 'Help {{member.name}}.',
    contextToModel: true,
    files: '',
  });
  assert.equal(write(about), `On 2030-01-02.\n\nHelp Ada.\n\n${context}`);
  assert.equal(write({ ...about, userContext: undefined }), 'On 2030-01-02.\n\nHelp Ada.');
  const own = writeInstructions({
    shared: '',
    own: async ({ date }) => `{{date}} ${date}`,
    contextToModel: false,
    files: '',
  });
  assert.equal(await own(about), '{{date}} 2030-01-02');
});

test('fixed instructions leave out what a function writes, and do not call it', () => {
  const own = () => assert.fail('code of the agency was called');
  const parts = { shared: 'Be kind on {{date}}.', own, contextToModel: true, files: '' };
  const about = { date: '2026-11-16', member: null, userContext: { plan: 'Pro' }, state: {} };
  assert.equal(writeFixedInstructions(parts)(about), 'Be kind on 2026-11-16.\n\nuser_context:\n{"plan":"Pro"}');
  assert.equal(
    writeFixedInstructions({ ...parts, shared: '', own: 'Help.', contextToModel: false, files: '' })(about),
    'Help.',
  );
});
