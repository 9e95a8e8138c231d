import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callText } from './run-display.ts';

test('the call that a person approves is shown as it will run', () => {
  const call = { tool: 'pay\u001b[2K', arguments: { to: '\u009b2J\u202eeve\n' } };
  assert.equal(callText(call), 'pay[2K {"to":"2Jeve\\n"}');
});
