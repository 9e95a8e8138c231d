import assert from 'node:assert/strict';
import { test } from 'node:test';
import { projectSettings } from './project-settings.ts';

const file = '# A project\nRUNWIRE_URL=http://192.0.2.1\nRUNWIRE_API_KEY=of-the-project\nPORT=9000\n';

test('the environment takes precedence over runwire.env', () => {
  assert.deepEqual(projectSettings(file, { PORT: '1', RUNWIRE_URL: '' }), {
    RUNWIRE_URL: 'http://192.0.2.1',
    RUNWIRE_API_KEY: 'of-the-project',
  });
});

test('an address of runwire.env never gets the key of the environment', () => {
  assert.deepEqual(projectSettings(file, { RUNWIRE_API_KEY: 'of-the-user' }), { PORT: '9000' });
});
