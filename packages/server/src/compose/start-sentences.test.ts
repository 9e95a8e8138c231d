import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stoppingSentence } from './start-sentences.ts';

test('one active run is not called runs', () => {
  assert.match(stoppingSentence(1), /^Stopping: 1 active run may continue/);
  assert.match(stoppingSentence(2), /^Stopping: 2 active runs may continue/);
});
